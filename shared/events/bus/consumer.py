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
from shared.events.bus.broker import close_quietly, open_connection, queue_exists
from shared.events.bus.declarations import QueueMismatch, declare, expect
from shared.events.bus.inbox import ConsumerLost, Inbox, Subscription, Taken
from shared.events.bus.parking import park
from shared.events.bus.protocol import Handler
from shared.events.bus.topology import Queue

log = structlog.get_logger("bus")

# Consumers can be silently dead after a broker restart, so we ask the broker regularly.
WATCH_SECONDS = 5.0
# How often to check whether an older version has declared its queue again after a rollback.
OLD_QUEUE_SECONDS = 60.0

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
        self._looked_for_old = float("-inf")
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
        return f"the consumer of {self.queue.name} is {self._trouble}" if self._trouble else None

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
            except QueueMismatch as problem:
                self._trouble = str(problem)
                log.error("queue_mismatch", queue=self.queue.name, error=str(problem))
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
        self._looked_for_old = float("-inf")
        self._connection = await open_connection(self.url)
        self._connection.close_callbacks.add(inbox.lose, weak=False)
        await self._follow(inbox)
        self._trouble = self._lost_at = None
        self._started.set()
        watched = time.monotonic()
        while True:
            await self._follow(inbox)
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

    async def _follow(self, inbox: Inbox) -> None:
        """Messages of a queue that is no longer ours go back unhandled when its channel closes."""
        for name in inbox.subscriptions.keys() - self._wanted:
            await inbox.subscriptions.pop(name).channel.close()
        for name in self._wanted - inbox.subscriptions.keys():
            if not self._is_old(name) or await self._found_old():
                await self._subscribe(inbox, name)

    def _is_old(self, name: str) -> bool:
        """The single queue of the version before partitions: consumed while it exists, never declared."""
        return self.queue.partitioned and name == self.queue.name

    async def _found_old(self) -> bool:
        if time.monotonic() - self._looked_for_old < OLD_QUEUE_SECONDS:
            return False
        assert self._connection is not None
        found = await queue_exists(self._connection, self.queue.name)
        if not found:
            self._looked_for_old = time.monotonic()
        return found

    async def _subscribe(self, inbox: Inbox, name: str) -> None:
        assert self._connection is not None
        # The subscription keeps the channel: one without references would be garbage-collected.
        channel = await self._connection.channel(publisher_confirms=True, on_return_raises=True)
        await channel.set_qos(prefetch_count=max(2, self.batch // 2))
        if self._is_old(name):
            declared = await channel.declare_queue(name, passive=True)
        elif self.declares:
            declared = (await declare(channel, self.queue, [name]))[name]
        else:
            declared = (await expect(channel, self.queue, [name], publishing=False))[name]
        subscription = inbox.subscriptions[name] = Subscription(name, channel, inbox)
        channel.close_callbacks.add(
            lambda *_: inbox.lose() if inbox.subscriptions.get(name) is subscription else None, weak=False
        )
        await declared.consume(subscription.receive)

    async def _watch(self, inbox: Inbox) -> None:
        for subscription in inbox.subscriptions.values():
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
