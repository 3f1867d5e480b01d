"""A group's consumer on its own connection, which is monitored and replaced if it is lost or silent."""

import asyncio
import contextlib
import time
from collections.abc import Callable

import structlog
from aio_pika.abc import AbstractConnection
from aio_pika.exceptions import ChannelNotFoundEntity

from shared.background import Backoff, end_tasks
from shared.events.bus.acknowledgements import Acknowledgement
from shared.events.bus.batch_outcomes import outcomes
from shared.events.bus.batch_return import BatchReturned, HeldBatch, let_others_take_it, supervise
from shared.events.bus.broker import close_quietly, open_connection
from shared.events.bus.inbox import ConsumerLost, Inbox, Taken
from shared.events.bus.parking import park
from shared.events.bus.protocol import Handler
from shared.events.bus.subscriber import Subscriber
from shared.events.bus.topology import Queue

log = structlog.get_logger("bus")

# Consumers can be silently dead after a broker restart, so we ask the broker regularly.
WATCH_SECONDS = 5.0

Acknowledge = Callable[[str, Acknowledgement], None]


class Consumer:
    """Handles the messages of one or several queues of a group, those of each queue in their order."""

    def __init__(
        self,
        url: str,
        queue: Queue,
        handler: Handler,
        batch: int,
        acknowledge: Acknowledge,
        *,
        declares: bool = True,
    ) -> None:
        self.url = url
        self.queue = queue
        self.handler = handler
        self.batch = batch
        self.acknowledge = acknowledge
        self.declares = declares
        self._wanted: frozenset[str] = frozenset()
        self._inbox = Inbox()
        self._subscriber: Subscriber | None = None
        self._task: asyncio.Task[None] | None = None
        self._consuming: asyncio.Task[None] | None = None
        self._held: HeldBatch | None = None
        self._connection: AbstractConnection | None = None
        self._trouble: str | None = "not connected yet"
        self._lost_at: float | None = time.monotonic()
        self._started = asyncio.Event()

    async def start(self) -> None:
        """Returns once the first connection is open or has failed: the broker may start later."""
        self.begin()
        await self._started.wait()

    def begin(self) -> None:
        self._task = asyncio.create_task(self._run(), name=f"bus:{self.queue.name}")

    def want(self, names: frozenset[str]) -> None:
        """Consumes these queues from now on, and no others."""
        if names != self._wanted:
            self._wanted = names
            self._inbox.something.set()

    async def stop(self) -> None:
        for task in (self._task, self._consuming):
            if task is not None:
                await end_tasks([task])
        await self._close()

    def problem(self) -> str | None:
        if self._task is not None and self._task.done():
            return f"the consumer of {self.queue.name} has ended"
        if self._trouble:
            return f"the consumer of {self.queue.name} is {self._trouble}"
        failed = self._subscriber.problem(self._wanted) if self._subscriber else None
        return f"the consumer of {self.queue.name} {failed}" if failed else None

    def lost_seconds(self) -> float:
        return 0.0 if self._lost_at is None else time.monotonic() - self._lost_at

    async def _run(self) -> None:
        backoff = Backoff()
        while True:
            returned = False
            self._held = None
            self._consuming = asyncio.create_task(self._consume(backoff), name=f"consume:{self.queue.name}")
            try:
                await supervise(self._consuming, self._check_held)
            except Exception as problem:
                self._trouble = f"not connected ({type(problem).__name__})"
                log.warning("consumer_lost", queue=self.queue.name, error=str(problem) or repr(problem))
                returned = isinstance(problem, BatchReturned)
            self._started.set()
            self._lost_at = self._lost_at or time.monotonic()
            await self._close()
            # After the connection is closed, because a handler that hangs may be slow to end.
            await end_tasks([self._consuming])
            if returned:
                await let_others_take_it()
            await backoff.pause()

    def _check_held(self) -> None:
        if self._held is not None:
            self._held.check(self._wanted, has_leases=self.queue.partitioned)

    async def _consume(self, backoff: Backoff) -> None:
        self._inbox = inbox = Inbox()
        self._connection = connection = await open_connection(self.url)
        connection.close_callbacks.add(inbox.lose, weak=False)
        prefetch = max(2, self.batch // 2)
        self._subscriber = subscriber = Subscriber(
            connection, self.queue, inbox, prefetch=prefetch, declares=self.declares
        )
        try:
            await self._consume_from(inbox, subscriber, backoff)
        finally:
            await subscriber.stop()

    async def _consume_from(self, inbox: Inbox, subscriber: Subscriber, backoff: Backoff) -> None:
        await subscriber.follow(self._wanted)
        self._trouble = self._lost_at = None
        self._started.set()
        watched = time.monotonic()
        while True:
            await subscriber.follow(self._wanted)
            taken = inbox.take(self.batch)
            if taken:
                self._held = HeldBatch(taken)
                await self._settle(taken)
                self._held = None
                backoff.reset()
            if time.monotonic() - watched > WATCH_SECONDS:
                await self._watch(inbox)
                backoff.reset()
                watched = time.monotonic()
            if not taken:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(WATCH_SECONDS):
                        await inbox.something.wait()

    async def _watch(self, inbox: Inbox) -> None:
        for subscription in list(inbox.subscriptions.values()):
            try:
                async with asyncio.timeout(WATCH_SECONDS):
                    queue = await subscription.channel.declare_queue(subscription.name, passive=True)
            except ChannelNotFoundEntity:
                raise ConsumerLost(f"{subscription.name} is gone from the broker") from None
            if queue.declaration_result.consumer_count == 0:
                raise ConsumerLost("the broker knows no consumer of ours")

    async def _settle(self, taken: Taken) -> None:
        """Handle, park what cannot be handled, then acknowledge all of it at once."""
        messages = [message for _, arrived in taken for _, batch in arrived for message in batch]
        settled: list[tuple[str, Acknowledgement]] = []
        for start in range(0, len(messages), self.batch):
            part = messages[start : start + self.batch]
            results = outcomes(part, self.handler, queue=self.queue.name, backoff=Backoff())
            async for message, reason in results:
                if reason is not None and self.queue.parks:
                    await park(taken[0][0].channel, self.queue, message, reason)
                if message.source:
                    done = Acknowledgement(message.reference, message.id, reason is not None)
                    settled.append((message.source, done))
        for _, arrived in taken:
            await arrived[-1][0].ack(multiple=True)
        for source, done in settled:
            self.acknowledge(source, done)

    async def _close(self) -> None:
        connection, self._connection = self._connection, None
        await close_quietly(connection)
