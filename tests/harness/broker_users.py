"""The broker users of the services in a test's own vhost, made from the same definitions as compose's."""

import json
from urllib.parse import unquote, urlsplit

from shared.events.bus.topology import PERMISSIONS, broker_user, definitions
from tests.harness.servers import Rabbit

# The users belong to the whole broker, so all tests give them the same passwords.
PASSWORDS = {service: f"{service}-password" for service in PERMISSIONS}


def broker_urls(rabbit: Rabbit, amqp_url: str) -> dict[str, str]:
    """A URL for each service that uses the broker. `amqp_url` is the test's, of the user who may do all."""
    parts = urlsplit(amqp_url)
    vhost = unquote(parts.path.removeprefix("/"))
    rabbit.import_definitions(json.dumps(definitions(PASSWORDS, vhost=vhost)).encode())
    return {
        service: parts._replace(
            netloc=f"{broker_user(service)}:{password}@{parts.hostname}:{parts.port}"
        ).geturl()
        for service, password in PASSWORDS.items()
    }
