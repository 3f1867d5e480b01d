"""Every queue of the system, and what each service may do on the broker.

Producers publish only to the event log. It forwards what other services listen to, each through its own
exchange: with one queue per routing key, `mandatory` is reliable. With two, one could be missing unnoticed.

The event log's service declares every exchange and queue. The others declare only their own queue of replies,
which lives as long as their connection.
"""

import base64
import hashlib
import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, structs

from shared.events.outbox import PARTITIONS

SERVICES = ("catalog", "bookings", "forms", "webhooks")
# By default RabbitMQ 4 drops a message after 20 deliveries, and 3.x never does. A dropped one is sent again.
DELIVERY_LIMIT = 20


class Queue(Struct, frozen=True):
    """A group of consumers. `topics` are the kinds of events that the event log passes on to it.

    On the broker it is one queue per partition. Each has a single active consumer: replicas take over from
    one another but never consume at the same time, which would lose the order.
    """

    name: str
    exchange: str
    topics: tuple[str, ...] = ()
    partitions: int = 1

    @property
    def service(self) -> str:
        """The service that consumes it."""
        return self.name.partition(".")[0]

    @property
    def replies(self) -> str:
        """The exchange to which its consumers publish their replies."""
        return f"{self.exchange}.replies"

    def partition(self, number: int) -> str:
        """The name of one partition's queue, which is its routing key, too."""
        return f"{self.name}.{number}" if self.partitions > 1 else self.name

    @property
    def all_partitions(self) -> frozenset[int]:
        return frozenset(range(self.partitions))


EVENT_LOG = Queue("webhooks.events", "studio.event-log", partitions=PARTITIONS)
NEW_MEMBERS = Queue("forms.new-members", "studio.forms", topics=("member.created",))

QUEUES = (EVENT_LOG, NEW_MEMBERS)

# Every argument is explicit: the defaults differ between versions.
QUEUE_ARGUMENTS: dict[str, Any] = {
    "x-queue-type": "quorum",
    "x-delivery-limit": DELIVERY_LIMIT,
    "x-overflow": "reject-publish",
    "x-single-active-consumer": True,
}


def declares(service: str) -> bool:
    return service == EVENT_LOG.service


class Permissions(Struct, frozen=True):
    """Regular expressions over the names of exchanges and queues, as RabbitMQ expects them."""

    configure: str
    write: str
    read: str


def broker_user(service: str) -> str:
    return f"studio_{service}"


def _only(*names: str) -> str:
    return f"^({'|'.join(names)})$"


def _name(name: str) -> str:
    return name.replace(".", r"\.")


def _queues(queue: Queue) -> str:
    return _name(queue.name) + (r"\.[0-9]+" if queue.partitions > 1 else "")


def _permissions(service: str) -> Permissions:
    """To bind a queue takes write permission for it and read permission for its exchange."""
    replies = _name(f"{service}.replies") + r"\.[0-9a-f-]+"
    consumed = [queue for queue in QUEUES if queue.service == service]
    published = [queue for queue in QUEUES if queue is not EVENT_LOG] if declares(service) else [EVENT_LOG]
    configure, write, read = [replies], [replies], [replies]
    write += [_name(queue.exchange) for queue in published]
    write += [_name(queue.replies) for queue in consumed]
    read += [_name(queue.replies) for queue in published]
    read += [_queues(queue) for queue in consumed]
    if declares(service):
        exchanges = [_name(name) for queue in QUEUES for name in (queue.exchange, queue.replies)]
        queues = [_queues(queue) for queue in QUEUES]
        configure += [*exchanges, *queues]
        write += queues
        read += [_name(queue.exchange) for queue in QUEUES]
    return Permissions(_only(*configure), _only(*write), _only(*read))


# One table: compose and Kubernetes create the users from it, and a test holds a real broker against it. The
# gateway does not use the broker.
PERMISSIONS = {service: _permissions(service) for service in SERVICES}


def definitions(passwords: Mapping[str, str], *, vhost: str = "/") -> Any:
    """For brokers that import their users when they start."""
    return {
        "vhosts": [{"name": vhost}],
        "users": [
            {
                "name": broker_user(service),
                "password_hash": _hashed(passwords[service], os.urandom(4)),
                "hashing_algorithm": "rabbit_password_hashing_sha256",
                "tags": "",
            }
            for service in PERMISSIONS
        ],
        "permissions": [
            {
                "user": broker_user(service),
                "vhost": vhost,
                **structs.asdict(allowed),
            }
            for service, allowed in PERMISSIONS.items()
        ],
    }


def _hashed(password: str, salt: bytes) -> str:
    """RabbitMQ's own format: four bytes of salt, then the SHA-256 of salt and password."""
    return base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()
