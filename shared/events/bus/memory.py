"""The in-process bus: nothing is lost on the way, and the handler's return is the reply."""

import asyncio
from collections import defaultdict
from typing import NamedTuple

from shared.background import Backoff, end_tasks
from shared.db.unavailable import is_unavailable
from shared.events.bus import Batch, Handler, Link, OnReply, Park, Ready
from shared.events.bus.intake import Intake
from shared.events.bus.topology import Queue

AT_ONCE = 16  # batches

Waiting = asyncio.Queue[tuple[Batch, OnReply]]


class MemoryBus:
    """What is sent before somebody consumes it waits."""

    def __init__(self) -> None:
        self._waiting: dict[str, Waiting] = defaultdict(asyncio.Queue)
        self._consumers: dict[str, asyncio.Task[None]] = {}

    async def link(self, queue: Queue, service: str, on_reply: OnReply) -> Link:
        return _Link(self._waiting[queue.name], on_reply)

    async def subscribe(
        self, queue: Queue, handler: Handler, *, ready: Ready, park: Park | None = None
    ) -> None:
        consuming = _consume(self._waiting[queue.name], Intake(queue, handler, park))
        self._consumers[queue.name] = asyncio.create_task(consuming, name=f"bus:{queue.name}")

    def assign(self, queue: Queue, partitions: frozenset[int]) -> None:
        """A single process has all partitions."""

    def lost_seconds(self, queue: Queue) -> float:
        return 0.0

    async def depth(self, queue: Queue) -> int:
        return self._waiting[queue.name].qsize()

    def problem(self) -> str | None:
        ended = [name for name, task in self._consumers.items() if task.done()]
        return f"the consumer of {ended[0]} has ended" if ended else None

    async def close(self) -> None:
        await end_tasks(self._consumers.values())


async def _consume(waiting: Waiting, intake: Intake) -> None:
    backoff = Backoff()
    while True:
        taken = [await waiting.get()]
        while len(taken) < AT_ONCE and not waiting.empty():
            taken.append(waiting.get_nowait())
        while True:
            try:
                replies = await intake.take([batch for batch, _ in taken])
                break
            except Exception as problem:
                if not is_unavailable(problem):
                    raise
                await backoff.pause()
        backoff.reset()
        for (_, on_reply), reply in zip(taken, replies, strict=True):
            on_reply(reply)


class _Link(NamedTuple):
    waiting: Waiting
    on_reply: OnReply
    is_lost: bool = False

    async def send(self, batch: Batch, *, again: bool = False) -> None:
        self.waiting.put_nowait((batch, self.on_reply))

    async def close(self) -> None:
        pass
