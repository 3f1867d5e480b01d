"""Generates the broker users of the overlays from the table in shared/events/bus/topology.py.

Run `.venv/bin/python deploy/kubernetes/make_broker_users.py` after a change; `make check` finds stale files.
The chart has the same permissions in its values.yaml, which `make check` compares.
"""

import json
from pathlib import Path

from shared.events.bus.topology import PERMISSIONS, Permissions, definitions

OVERLAYS = Path(__file__).parent / "overlays"
PRODUCTION = OVERLAYS / "production"
HEAD = "# Made by deploy/kubernetes/make_broker_users.py from shared/events/bus/topology.py. Change that.\n"
# The RabbitMQ topology operator generates user name and password, and writes them to a secret.
USER = """\
apiVersion: rabbitmq.com/v1beta1
kind: User
metadata:
  name: studio-broker-{service}
spec:
  rabbitmqClusterReference: {{name: studio-broker}}
---
apiVersion: rabbitmq.com/v1beta1
kind: Permission
metadata:
  name: studio-broker-{service}
spec:
  rabbitmqClusterReference: {{name: studio-broker}}
  userReference: {{name: studio-broker-{service}}}
  vhost: /
  permissions:
    configure: '{allowed.configure}'
    write: '{allowed.write}'
    read: '{allowed.read}'
"""
LOGIN = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: any
spec:
  template:
    spec:
      containers:
        - name: service
          env:
            - name: BROKER_USER
              valueFrom:
                secretKeyRef: {{name: studio-broker-{service}-user-credentials, key: username}}
            - name: BROKER_PASSWORD
              valueFrom:
                secretKeyRef: {{name: studio-broker-{service}-user-credentials, key: password}}
            - name: STUDIO_AMQP_URL
              value: amqp://$(BROKER_USER):$(BROKER_PASSWORD)@studio-broker:5672/
"""
# Everything about the development overlay is public, its passwords included.
PASSWORD, SALT = "development", b"dev!"


def files() -> dict[Path, str]:
    users = "---\n".join(_user(service, allowed) for service, allowed in PERMISSIONS.items())
    public = definitions(dict.fromkeys(PERMISSIONS, PASSWORD), salt=SALT)
    return {
        PRODUCTION / "broker-users.yaml": HEAD + users,
        **{
            PRODUCTION / f"broker-login-{service}.yaml": HEAD + LOGIN.format(service=service)
            for service in PERMISSIONS
        },
        OVERLAYS / "development" / "definitions.json": json.dumps(public, indent=2) + "\n",
    }


def _user(service: str, allowed: Permissions) -> str:
    return USER.format(service=service, allowed=allowed)


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
