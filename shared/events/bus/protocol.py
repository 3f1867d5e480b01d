"""What both buses guarantee: at least once, in order per publisher and queue, nothing silently dropped."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from shared.events.bus.acknowledgements import Settle
from shared.events.bus.topology import EVENT_LOG, Queue


class BusError(Exception):
    """The message was not confirmed: publish it again."""


class Unroutable(BusError):
    """The queue is missing, or has no consumer to take the message yet."""


class Poison(Exception):
    """A handler raises it for a message that can never be handled: the message is parked at once."""


class Message(Struct, frozen=True):
    """`id` is the event's id, the same on every redelivery; `topic` is the event's type.

    `source` is the producer that wants an acknowledgement with its own `reference`. If empty, none is sent.
    """

    id: str
    topic: str
    body: bytes
    traceparent: str | None = None
    bucket: int = 0
    source: str = ""
    reference: str = ""


class ParkedMessage(Struct, frozen=True):
    id: str
    topic: str
    reason: str
    body: bytes


class QueueDepth(Struct, frozen=True):
    name: str
    waiting: int
    parked: int


# A handler gets messages in the queue's order and returns once they are safely stored; only then are they
# acknowledged, to the bus and to their producer. It must tolerate getting the same message twice.
Handler = Callable[[Sequence[Message]], Awaitable[None]]


class Bus(Protocol):
    @property
    def partitions(self) -> int:
        """The number of partitions of the event log."""

    @property
    def keeps_parked(self) -> bool:
        """Whether parked messages outlive the process."""

    async def ensure_connected(self) -> int:
        """Connects if needed, or raises BusError. The number changes if published messages may be lost."""

    @property
    def has_old_queue(self) -> bool:
        """Whether the event log's single queue of the version before partitions still exists."""

    async def publish(
        self, message: Message, queue: Queue = EVENT_LOG, *, by_old_queue: bool = False
    ) -> None:
        """Returns once the bus has the message. Raises BusError otherwise."""

    async def subscribe(self, queue: Queue, handler: Handler, *, batch: int = 1) -> None:
        """Handles the queue's messages until the bus is closed, up to `batch` at a time.

        For a partitioned queue on a broker, only the assigned partitions.
        """

    def assign(self, queue: Queue, partitions: frozenset[int]) -> None:
        """From now on this process consumes these partitions of a queue that it has subscribed to."""

    def lost_seconds(self, queue: Queue) -> float:
        """For how long this process has not been able to consume that queue. 0 while it can."""

    async def on_acknowledged(self, source: str, settle: Settle) -> None:
        """Calls `settle` with the outcome of the messages that `source` has published."""

    async def depth(self, queue: Queue) -> QueueDepth:
        """How many messages are waiting and how many are parked."""

    def lists_parked(self, queue: Queue) -> bool:
        """Whether this process may read the parked messages; it can always count them (`depth`)."""

    async def parked(self, queue: Queue, limit: int) -> list[ParkedMessage]:
        """The oldest parked messages; they stay parked."""

    async def requeue(self, queue: Queue, ids: frozenset[str] | None = None) -> int:
        """Sends all or the given parked messages back to their queue. Returns how many."""

    def problem(self) -> str | None:
        """None, or a sentence for the readiness answer."""

    async def close(self) -> None:
        """Stops the consumers. Messages that they have not finished are delivered again after a restart."""
