"""Two buses, one protocol: `memory` for one process, `rabbit` for many."""

from shared.events.bus.protocol import (
    Batch,
    Bus,
    BusError,
    Handler,
    Link,
    Message,
    OnReply,
    Park,
    Poison,
    Ready,
    Refused,
    Reply,
    Stored,
)
from shared.events.bus.topology import EVENT_LOG, NEW_MEMBERS, QUEUES, Queue, groups_for

__all__ = [
    "EVENT_LOG",
    "NEW_MEMBERS",
    "QUEUES",
    "Batch",
    "Bus",
    "BusError",
    "Handler",
    "Link",
    "Message",
    "OnReply",
    "Park",
    "Poison",
    "Queue",
    "Ready",
    "Refused",
    "Reply",
    "Stored",
    "groups_for",
]
