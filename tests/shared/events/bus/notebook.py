"""A handler that records what it received, and a sender that numbers what it sends."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from shared.events.bus import EVENT_LOG, Batch, Bus, BusError, Link, Message, Queue, Reply
from shared.wire import new_id


class Notebook:
    def __init__(self) -> None:
        self.seen: list[str] = []
        self.parked: list[tuple[str, str]] = []

    async def __call__(self, messages: Sequence[Message]) -> None:
        self.note(messages)

    def note(self, messages: Sequence[Message]) -> None:
        self.seen += [message.id for message in messages]

    async def park(self, message: Message, reason: str) -> None:
        self.parked.append((message.id, reason))


class Sender:
    """One session of one partition. Connects as soon as the queue is there."""

    links: ClassVar[list[Link]] = []

    def __init__(
        self, bus: Bus, queue: Queue = EVENT_LOG, *, service: str = "bookings", partition: int = 0
    ) -> None:
        self._bus = bus
        self._queue = queue
        self._service = service
        self._partition = partition
        self._link: Link | None = None
        self.replies: list[Reply] = []
        self.session = new_id()
        self.number = 0

    @property
    def stored(self) -> list[str]:
        return [one.event_id for reply in self.replies for one in reply.stored]

    async def send(self, *ids: str) -> None:
        async with asyncio.timeout(30):
            while self._link is None:
                try:
                    self._link = await self._bus.link(self._queue, self._service, self.replies.append)
                    self.links.append(self._link)
                except BusError:
                    await asyncio.sleep(0.05)
        self.number += 1
        messages = [Message(id_, "booking.created", b"{}", row_id=len(id_)) for id_ in ids]
        await self._link.send(Batch(self._partition, self.session, self.number, messages))


async def at_once() -> None:
    """The database takes writes."""
