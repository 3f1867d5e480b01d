"""What the broker allows each service, if every service has its own broker user.

One table: compose and Kubernetes create the users from it, and a test holds a real broker against it. The
event log's service declares all exchanges and queues. Every other service declares only the queue of its
acknowledgements. To check that a queue exists, a user needs no permission.
"""

import re

from msgspec import Struct

from shared.events.bus.topology import EVENT_LOG, PARKED, QUEUES, Queue, acknowledgements_of

# The broker's name for the default exchange, by which any queue can be published to.
DEFAULT_EXCHANGE = "amq.default"


class Permissions(Struct, frozen=True):
    """Regular expressions over the names of exchanges and queues, as RabbitMQ expects them."""

    configure: str
    write: str
    read: str


def broker_user(service: str) -> str:
    return f"studio_{service}"


def declares_topology(service: str) -> bool:
    return service == EVENT_LOG.service


def _only(*names: str) -> str:
    return f"^({'|'.join(names)})$"


def _name(name: str) -> str:
    return name.replace(".", r"\.")


def _queues(queue: Queue) -> list[str]:
    name = _name(queue.name)
    return [name + r"\.[0-9]+" if queue.partitioned else name, _name(queue.parked)]


def _producer(service: str) -> Permissions:
    """Publishes events and reads their acknowledgements. One that consumes a group also acknowledges and
    parks what was forwarded to it.
    """
    own = _name(acknowledgements_of(service).name)
    groups = [queue for queue in QUEUES if queue.service == service]
    settling = [PARKED, acknowledgements_of(EVENT_LOG.service).exchange] if groups else []
    return Permissions(
        configure=_only(own),
        write=_only(_name(EVENT_LOG.exchange), *map(_name, settling)),
        read=_only(own, *(_name(group.name) for group in groups)),
    )


def _event_log(service: str) -> Permissions:
    """Declares everything, consumes the log, forwards to the groups, sends acknowledgements, and requeues.

    Binding a queue takes write permission for it and read permission for its exchange. The name without a
    number is the queue of the version before partitions.
    """
    own, old = _name(acknowledgements_of(service).name), _name(EVENT_LOG.name)
    exchanges = [_name(PARKED), *(_name(queue.exchange) for queue in QUEUES)]
    forwarded = [_name(queue.exchange) for queue in QUEUES if queue is not EVENT_LOG]
    queues = [pattern for queue in QUEUES for pattern in _queues(queue)]
    return Permissions(
        configure=_only(*exchanges, *queues, own),
        write=_only(_name(DEFAULT_EXCHANGE), _name(PARKED), *forwarded, *queues, own, old),
        read=_only(*exchanges, *queues, own, old),
    )


# The gateway does not use the broker.
PERMISSIONS = {
    "catalog": _producer("catalog"),
    "bookings": _producer("bookings"),
    "forms": _producer("forms"),
    "webhooks": _event_log("webhooks"),
}


def allows(service: str, kind: str, name: str) -> bool:
    """Whether the table gives this service the permission `kind` for an exchange or queue."""
    return re.search(getattr(PERMISSIONS[service], kind), name) is not None
