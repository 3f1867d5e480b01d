"""Two buses, one protocol: `memory` for one process, `rabbit` for many."""

from shared.events.bus.acknowledgements import Acknowledgement
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
from shared.events.bus.topology import EVENT_LOG, NEW_MEMBERS, QUEUES, Queue, groups_for

__all__ = [
    "EVENT_LOG",
    "NEW_MEMBERS",
    "QUEUES",
    "Acknowledgement",
    "Bus",
    "BusError",
    "Handler",
    "Message",
    "ParkedMessage",
    "Poison",
    "Queue",
    "QueueDepth",
    "Unroutable",
    "groups_for",
]
