"""The in-process bus: `publish` returns after the handler has, and acknowledgements are passed directly."""

import asyncio
from collections import deque
from collections.abc import Sequence

import structlog

from shared.background import Backoff
from shared.events.bus.acknowledgements import Acknowledgement, AcknowledgementSender, Settle
from shared.events.bus.batch_outcomes import outcomes
from shared.events.bus.protocol import Handler, Message, ParkedMessage, QueueDepth, Unroutable
from shared.events.bus.topology import EVENT_LOG, QUEUES, Queue

log = structlog.get_logger("bus")

Waiting = tuple[Message, "asyncio.Future[None]"]


class MemoryBus:
    """Parked messages are lost with the process. Their outbox rows stay and are published again."""

    partitions = 1
    keeps_parked = False
    has_old_queue = False

    def __init__(self, queues: Sequence[Queue] = QUEUES) -> None:
        self.queues = tuple(queues)
        self._consumers: dict[str, _Consumer] = {}
        self._settle: dict[str, Settle] = {}
        self._acknowledgements = AcknowledgementSender(self._send_acknowledgements)

    async def ensure_connected(self) -> int:
        return 1

    async def publish(
        self, message: Message, queue: Queue = EVENT_LOG, *, by_old_queue: bool = False
    ) -> None:
        consumer = self._consumers.get(queue.name)
        if consumer is None:
            raise Unroutable(f"nobody consumes {queue.name} yet")
        await consumer.put(message)

    async def subscribe(self, queue: Queue, handler: Handler, *, batch: int = 1) -> None:
        if queue not in self.queues:
            raise ValueError(f"{queue.name} is not one of this bus's queues")
        if queue.name in self._consumers:
            raise ValueError(f"{queue.name} has a consumer already")
        self._consumers[queue.name] = _Consumer(queue, handler, batch, self._acknowledgements)

    def assign(self, queue: Queue, partitions: frozenset[int]) -> None:
        """A single process has all partitions."""

    def lost_seconds(self, queue: Queue) -> float:
        return 0.0

    async def on_acknowledged(self, source: str, settle: Settle) -> None:
        self._settle[source] = settle

    async def depth(self, queue: Queue) -> QueueDepth:
        consumer = self._consumers.get(queue.name)
        if consumer is None:
            return QueueDepth(queue.name, 0, 0)
        return QueueDepth(queue.name, len(consumer.waiting), len(consumer.parked))

    def lists_parked(self, queue: Queue) -> bool:
        return True

    async def parked(self, queue: Queue, limit: int) -> list[ParkedMessage]:
        consumer = self._consumers.get(queue.name)
        if consumer is None:
            return []
        return [
            ParkedMessage(message.id, message.topic, reason, message.body)
            for message, reason in list(consumer.parked)[:limit]
        ]

    async def requeue(self, queue: Queue, ids: frozenset[str] | None = None) -> int:
        consumer = self._consumers.get(queue.name)
        return await consumer.requeue(ids) if consumer else 0

    def problem(self) -> str | None:
        dead = [consumer.queue.name for consumer in self._consumers.values() if consumer.task.done()]
        return f"the consumer of {dead[0]} has ended" if dead else None

    async def close(self) -> None:
        for consumer in self._consumers.values():
            await consumer.close()
        await self._acknowledgements.close()

    async def _send_acknowledgements(self, source: str, done: Sequence[Acknowledgement]) -> None:
        settle = self._settle.get(source)
        if settle is not None:
            await settle(done)


class _Consumer:
    """One queue and its one consumer."""

    def __init__(
        self, queue: Queue, handler: Handler, batch: int, acknowledgements: AcknowledgementSender
    ) -> None:
        self.queue = queue
        self.handler = handler
        self.batch = batch
        self.acknowledgements = acknowledgements
        self.waiting: deque[Waiting] = deque()
        self.parked: deque[tuple[Message, str]] = deque()
        self._something = asyncio.Event()
        self.task = asyncio.create_task(self._consume(), name=f"bus:{queue.name}")

    async def put(self, message: Message) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((message, done))
        self._something.set()
        await done

    async def requeue(self, ids: frozenset[str] | None) -> int:
        back = [(message, reason) for message, reason in self.parked if ids is None or message.id in ids]
        self.parked = deque(parked for parked in self.parked if parked not in back)
        await asyncio.gather(*(self.put(message) for message, _ in back))
        return len(back)

    async def _consume(self) -> None:
        backoff = Backoff()
        while True:
            await self._something.wait()
            taken = [self.waiting.popleft() for _ in range(min(self.batch, len(self.waiting)))]
            if not self.waiting:
                self._something.clear()
            # A publisher that timed out publishes again, so the message it gave up is dropped here.
            waiting = [(message, done) for message, done in taken if not done.done()]
            results = outcomes(
                [message for message, _ in waiting], self.handler, queue=self.queue.name, backoff=backoff
            )
            places = iter(waiting)
            async for message, reason in results:
                _, done = next(places)
                if reason is not None:
                    log.error("message_parked", queue=self.queue.name, id=message.id, reason=reason)
                    self.parked.append((message, reason))
                if message.source:
                    acknowledgement = Acknowledgement(message.reference, message.id, reason is not None)
                    self.acknowledgements.add(message.source, acknowledgement)
                if not done.done():
                    done.set_result(None)

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        for _, done in self.waiting:
            done.cancel()
