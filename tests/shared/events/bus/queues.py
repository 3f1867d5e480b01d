"""Queues for the bus tests, and a handler that records what it received."""

import asyncio
from collections.abc import Callable, Sequence

from shared.events.bus import Message, Queue

ALL = Queue("test.all", "test.all")
MEMBERS = Queue("test.members", "test.members")
LOG = Queue("test.log", "test.log", partitioned=True)
QUEUES = (ALL, MEMBERS, LOG)
PARTITIONS = 4


class Notebook:
    """`until` returns once the condition on the received messages holds."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.batches: list[int] = []
        self._changed = asyncio.Event()

    async def __call__(self, messages: Sequence[Message]) -> None:
        self.note(messages)

    def note(self, messages: Sequence[Message]) -> None:
        self.seen += [message.id for message in messages]
        self.batches.append(len(messages))
        self._changed.set()

    async def until(self, fact: Callable[[list[str]], bool], *, seconds: float = 30) -> None:
        async with asyncio.timeout(seconds):
            while not fact(self.seen):
                self._changed.clear()
                await self._changed.wait()


def message(number: int, *, bucket: int = 0, source: str = "") -> Message:
    return Message(
        f"m{number}",
        "booking.created",
        b'{"n":%d}' % number,
        traceparent="00-abc-def-01",
        bucket=bucket,
        source=source,
        reference=f"r{number}" if source else "",
    )
