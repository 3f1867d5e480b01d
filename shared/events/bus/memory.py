"""The in-process bus: nothing is lost on the way, and the handler's return is the reply."""

import asyncio
from collections import deque

from shared.background import Backoff, end_tasks
from shared.db.unavailable import is_unavailable
from shared.events.bus.intake import Intake
from shared.events.bus.protocol import Batch, BusError, Handler, Link, OnReply, Park, Ready
from shared.events.bus.topology import Queue

# How many batches are handled at once.
AT_ONCE = 16


class MemoryBus:
    def __init__(self) -> None:
        self._consumers: dict[str, _Consumer] = {}

    async def link(self, queue: Queue, service: str, on_reply: OnReply) -> Link:
        consumer = self._consumers.get(queue.name)
        if consumer is None:
            raise BusError(f"nobody consumes {queue.name} yet")
        return _Link(consumer, on_reply)

    async def subscribe(
        self, queue: Queue, handler: Handler, *, ready: Ready, park: Park | None = None
    ) -> None:
        self._consumers[queue.name] = _Consumer(Intake(queue, handler, park))

    def assign(self, queue: Queue, partitions: frozenset[int]) -> None:
        """A single process has all partitions."""

    def lost_seconds(self, queue: Queue) -> float:
        return 0.0

    async def depth(self, queue: Queue) -> int:
        consumer = self._consumers.get(queue.name)
        return sum(len(batch.messages) for batch, _ in consumer.waiting) if consumer else 0

    def problem(self) -> str | None:
        dead = [name for name, consumer in self._consumers.items() if consumer.task.done()]
        return f"the consumer of {dead[0]} has ended" if dead else None

    async def close(self) -> None:
        await end_tasks([consumer.task for consumer in self._consumers.values()])


class _Consumer:
    """One queue and its one consumer."""

    def __init__(self, intake: Intake) -> None:
        self.waiting: deque[tuple[Batch, OnReply]] = deque()
        self.something = asyncio.Event()
        self._intake = intake
        self.task = asyncio.create_task(self._run(), name=f"bus:{intake.queue.name}")

    async def _run(self) -> None:
        backoff = Backoff()
        while True:
            await self.something.wait()
            self.something.clear()
            while self.waiting:
                taken = [self.waiting[place] for place in range(min(AT_ONCE, len(self.waiting)))]
                try:
                    replies = await self._intake.take([batch for batch, _ in taken])
                except Exception as problem:
                    if not is_unavailable(problem):
                        raise
                    await backoff.pause()
                    continue
                backoff.reset()
                for (_, on_reply), reply in zip(taken, replies, strict=True):
                    self.waiting.popleft()
                    on_reply(reply)


class _Link:
    is_lost = False

    def __init__(self, consumer: _Consumer, on_reply: OnReply) -> None:
        self._consumer = consumer
        self._on_reply = on_reply

    async def send(self, batch: Batch) -> None:
        self._consumer.waiting.append((batch, self._on_reply))
        self._consumer.something.set()

    async def close(self) -> None:
        pass
