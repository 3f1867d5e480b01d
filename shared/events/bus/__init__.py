"""Two buses, one protocol: `memory` for one process, `rabbit` for many."""

from shared.events.bus.protocol import (
    Bus,
    BusError,
    Handler,
    Message,
    ParkedMessage,
    Poison,
    QueueDepth,
    Unroutable,
)
from shared.events.bus.topology import EVENT_LOG, NEW_MEMBERS, QUEUES, Queue

__all__ = [
    "EVENT_LOG",
    "NEW_MEMBERS",
    "QUEUES",
    "Bus",
    "BusError",
    "Handler",
    "Message",
    "ParkedMessage",
    "Poison",
    "Queue",
    "QueueDepth",
    "Unroutable",
]
