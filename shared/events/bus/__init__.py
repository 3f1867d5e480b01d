"""Two buses, one protocol: `memory` for one process, `rabbit` for many.

Both carry numbered batches of events to a queue's consumer, and its replies back.

A bus may lose, repeat and delay, but not reorder what one sender sends to one partition. Whoever sends keeps
an event until the consumer has replied that it is stored (shared/events/relay.py), and the consumer takes a
session's batches in order and without a gap (shared/events/bus/intake.py). Together nothing is lost, and the
order holds.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec
from msgspec import Struct

from shared.events.bus.topology import EVENT_LOG, NEW_MEMBERS, QUEUES, Queue

# Of topology.py, for importers of this module.
__all__ = ["EVENT_LOG", "NEW_MEMBERS", "QUEUES", "Queue"]


class BusError(Exception):
    """The bus is out of reach, or has no such queue: connect again."""


class Poison(Exception):
    """A handler raises it for a message that can never be handled: the message is parked at once."""


class Message(Struct, frozen=True, array_like=True):
    """One event. `id` is the event's id, the same on every redelivery, `row_id` its row in the outbox."""

    id: str
    topic: str
    body: bytes
    traceparent: str | None = None
    row_id: int = 0


class Batch(Struct, frozen=True, array_like=True):
    """Several events of a partition in one message of the broker, which costs far more than the event in it.

    A session numbers its batches from 1.
    """

    partition: int
    session: str
    number: int
    messages: list[Message]


class Stored(Struct, frozen=True, array_like=True):
    row_id: int
    event_id: str


class Refused(Struct, frozen=True, array_like=True):
    """An event that can never be handled. Whoever sent it parks it."""

    row_id: int
    event_id: str
    reason: str


class Reply(Struct, frozen=True, array_like=True):
    """What the consumer says about a batch.

    `start_over`: the batch does not follow on the last one that the consumer remembers, so it was not looked
    at. The sender begins a new session with its oldest event.
    """

    partition: int
    session: str
    stored: list[Stored] = []
    refused: list[Refused] = []
    start_over: bool = False


batch_decoder = msgspec.msgpack.Decoder(Batch)
reply_decoder = msgspec.msgpack.Decoder(Reply)
encode_message = msgspec.msgpack.Encoder().encode

# A handler gets messages in the queue's order and returns once they are safely stored. It stores each event
# once, although it may get one twice, even in one call or in two processes: see the event log's `add_to_log`.
Handler = Callable[[Sequence[Message]], Awaitable[None]]
Park = Callable[[Message, str], Awaitable[None]]
OnReply = Callable[[Reply], None]
# Raises unless the handler could store something, so that an outage of the database uses up no deliveries.
Ready = Callable[[], Awaitable[None]]


class Link(Protocol):
    """A sender's connection to a queue's consumer. What was sent on it may be lost when it is."""

    @property
    def is_lost(self) -> bool: ...

    async def send(self, batch: Batch, *, again: bool = False) -> None:
        """In the order of the calls. Returns before the consumer has it. `again`: there was no reply."""

    async def close(self) -> None: ...


class Bus(Protocol):
    async def link(self, queue: Queue, service: str, on_reply: OnReply) -> Link:
        """Connects, or raises BusError."""

    async def subscribe(
        self, queue: Queue, handler: Handler, *, ready: Ready, park: Park | None = None
    ) -> None:
        """Handles the messages of the assigned partitions until the bus is closed.

        Without `park`, what can never be handled is refused.
        """

    def assign(self, queue: Queue, partitions: frozenset[int]) -> None:
        """From now on this process consumes these partitions of a queue that it has subscribed to."""

    def lost_seconds(self, queue: Queue) -> float:
        """For how long this process has not been able to consume that queue. 0 while it can."""

    async def depth(self, queue: Queue) -> int:
        """How many messages are in the queue. Raises BusError."""

    def problem(self) -> str | None:
        """None, or a sentence for the readiness response."""

    async def close(self) -> None:
        """Stops the consumers. What they have not finished is sent again."""


@asynccontextmanager
async def open_bus(amqp_url: str | None, service: str = "webhooks") -> AsyncIterator[Bus]:
    """RabbitMQ if a URL is set, otherwise the in-process bus. `service` says what may be declared.

    An unavailable broker does not block the start: the outbox keeps events, and relays connect later.
    """
    bus: Bus
    if amqp_url is not None:
        from shared.events.bus.rabbit import RabbitBus

        bus = RabbitBus(amqp_url, service)
    else:
        from shared.events.bus.memory import MemoryBus

        bus = MemoryBus()
    try:
        yield bus
    finally:
        await bus.close()
