"""RabbitMQ definitions with one user per service, for brokers that import them when they start."""

import base64
import hashlib
import os
from collections.abc import Mapping
from typing import Any

from shared.events.bus.permissions import PERMISSIONS, broker_user


def definitions(passwords: Mapping[str, str], *, vhost: str = "/", salt: bytes | None = None) -> Any:
    """`passwords` are the services'. With a fixed `salt` the result is always the same."""
    return {
        "vhosts": [{"name": vhost}],
        "users": [
            {
                "name": broker_user(service),
                "password_hash": hashed(passwords[service], salt or os.urandom(4)),
                "hashing_algorithm": "rabbit_password_hashing_sha256",
                "tags": "",
            }
            for service in PERMISSIONS
        ],
        "permissions": [
            {
                "user": broker_user(service),
                "vhost": vhost,
                "configure": allowed.configure,
                "write": allowed.write,
                "read": allowed.read,
            }
            for service, allowed in PERMISSIONS.items()
        ],
    }


def hashed(password: str, salt: bytes) -> str:
    """RabbitMQ's own format: four bytes of salt, then the SHA-256 of salt and password."""
    return base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()
