"""The bus of one process: `publish` returns after the handlers did, so the outbox row outlives a crash."""

import asyncio
from collections import deque
from collections.abc import Sequence

import structlog

from shared.background import Backoff
from shared.events.bus.batch_outcomes import outcomes
from shared.events.bus.protocol import Handler, Message, ParkedMessage, QueueDepth, Unroutable
from shared.events.bus.topology import QUEUES, Queue, matches

log = structlog.get_logger("bus")

Waiting = tuple[Message, "asyncio.Future[None]"]


class MemoryBus:
    """Parked messages are logged and live as long as the process does."""

    def __init__(self, queues: Sequence[Queue] = QUEUES) -> None:
        self.queues = tuple(queues)
        self._lines: dict[str, _Line] = {}

    async def publish(self, message: Message) -> None:
        wanted = [q for q in self.queues if any(matches(topic, message.topic) for topic in q.topics)]
        if not wanted:
            raise Unroutable(f"no queue takes {message.topic}")
        missing = [queue.name for queue in wanted if queue.name not in self._lines]
        if missing:
            raise Unroutable(f"nobody consumes {missing[0]} yet")
        await asyncio.gather(*(self._lines[queue.name].put(message) for queue in wanted))

    async def subscribe(self, queue: Queue, handler: Handler, *, batch: int = 1) -> None:
        if queue not in self.queues:
            raise ValueError(f"{queue.name} is not one of this bus's queues")
        if queue.name in self._lines:
            raise ValueError(f"{queue.name} has a consumer already")
        self._lines[queue.name] = _Line(queue, handler, batch)

    async def depth(self, queue: Queue) -> QueueDepth:
        line = self._lines.get(queue.name)
        return QueueDepth(queue.name, len(line.waiting) if line else 0, len(line.parked) if line else 0)

    async def parked(self, queue: Queue, limit: int) -> list[ParkedMessage]:
        line = self._lines.get(queue.name)
        return list(line.parked)[:limit] if line else []

    async def requeue(self, queue: Queue, ids: frozenset[str] | None = None) -> int:
        line = self._lines.get(queue.name)
        return await line.requeue(ids) if line else 0

    def problem(self) -> str | None:
        dead = [line.queue.name for line in self._lines.values() if line.task.done()]
        return f"the consumer of {dead[0]} has ended" if dead else None

    async def close(self) -> None:
        for line in self._lines.values():
            await line.close()


class _Line:
    """One queue and its one consumer."""

    def __init__(self, queue: Queue, handler: Handler, batch: int) -> None:
        self.queue = queue
        self.handler = handler
        self.batch = batch
        self.waiting: deque[Waiting] = deque()
        self.parked: deque[ParkedMessage] = deque()
        self._something = asyncio.Event()
        self.task = asyncio.create_task(self._consume(), name=f"bus:{queue.name}")

    async def put(self, message: Message) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((message, done))
        self._something.set()
        await done

    async def requeue(self, ids: frozenset[str] | None) -> int:
        back = [parked for parked in self.parked if ids is None or parked.id in ids]
        self.parked = deque(parked for parked in self.parked if parked not in back)
        await asyncio.gather(*(self.put(Message(parked.id, parked.topic, parked.body)) for parked in back))
        return len(back)

    async def _consume(self) -> None:
        backoff = Backoff()
        while True:
            await self._something.wait()
            taken = [self.waiting.popleft() for _ in range(min(self.batch, len(self.waiting)))]
            if not self.waiting:
                self._something.clear()
            # A publisher that gave up (its time ran out) publishes again: its copy is dropped here.
            waiting = [(message, done) for message, done in taken if not done.done()]
            results = outcomes(
                [message for message, _ in waiting], self.handler, queue=self.queue.name, backoff=backoff
            )
            places = iter(waiting)
            async for message, reason in results:
                _, done = next(places)
                if reason is not None:
                    log.error("message_parked", queue=self.queue.name, id=message.id, reason=reason)
                    self.parked.append(ParkedMessage(message.id, message.topic, reason, message.body))
                if not done.done():
                    done.set_result(None)

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        for _, done in self.waiting:
            done.cancel()
