"""Subscribes to queues one by one: a queue that fails or hangs is tried again and does not stop the others.

Starting over with a new connection would return the prefetched messages of healthy queues. Each return is a
delivery, and the broker parks a message after DELIVERY_LIMIT of them.
"""

import asyncio
import contextlib

import structlog
from aio_pika.abc import AbstractChannel, AbstractConnection

from shared.background import Backoff, end_tasks
from shared.events.bus.broker import queue_exists
from shared.events.bus.declarations import declare, expect
from shared.events.bus.inbox import ConsumerLost, Inbox, Subscription
from shared.events.bus.topology import Queue

log = structlog.get_logger("bus")

# A quorum queue that has lost its majority may never answer.
ATTEMPT_SECONDS = 5.0
CLOSE_SECONDS = 5.0
# How long other partitions wait for the first attempts. It must stay well below UNABLE_SECONDS (leases.py).
FIRST_ATTEMPTS_SECONDS = 1.0
# How often to check whether an older version has declared its queue again after a rollback.
OLD_QUEUE_SECONDS = 60.0


class Subscriber:
    """Of one connection. Subscriptions are added to its inbox."""

    def __init__(
        self, connection: AbstractConnection, queue: Queue, inbox: Inbox, *, prefetch: int, declares: bool
    ) -> None:
        self._connection = connection
        self._queue = queue
        self._inbox = inbox
        self._prefetch = prefetch
        self._declares = declares
        self._wanted: frozenset[str] = frozenset()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failures: dict[str, str] = {}

    async def follow(self, wanted: frozenset[str]) -> None:
        """Messages of a queue that is no longer ours go back unhandled when its channel closes."""
        self._wanted = wanted
        for name in self._inbox.subscriptions.keys() - wanted:
            # If it stayed open, the broker would not let another replica consume the queue.
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._inbox.subscriptions.pop(name).channel.close()
        missing = wanted - self._inbox.subscriptions.keys() - self._tasks.keys()
        if missing:
            await self._start(missing)
        self._inbox.check()

    def problem(self, wanted: frozenset[str]) -> str | None:
        failed = sorted(wanted & self._failures.keys())
        return f"cannot consume {failed[0]}: {self._failures[failed[0]]}" if failed else None

    async def stop(self) -> None:
        await end_tasks(self._tasks.values())

    async def _start(self, names: frozenset[str]) -> None:
        tried = [asyncio.Event() for _ in names]
        for name, event in zip(names, tried, strict=True):
            self._tasks[name] = asyncio.create_task(self._keep_trying(name, event), name=f"subscribe:{name}")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIRST_ATTEMPTS_SECONDS if self._queue.partitioned else None):
                for event in tried:
                    await event.wait()

    async def _keep_trying(self, name: str, tried: asyncio.Event) -> None:
        backoff = Backoff()
        try:
            while name in self._wanted and not self._connection.is_closed:
                try:
                    async with asyncio.timeout(ATTEMPT_SECONDS):
                        subscribed = await self._attempt(name)
                except Exception as problem:
                    self._failures[name] = str(problem) or type(problem).__name__
                    log.warning("queue_not_consumed", queue=name, error=self._failures[name])
                    tried.set()
                    await backoff.pause()
                    continue
                self._failures.pop(name, None)
                if subscribed:
                    return
                tried.set()
                await asyncio.sleep(OLD_QUEUE_SECONDS)
        finally:
            tried.set()
            del self._tasks[name]
            self._inbox.something.set()

    async def _attempt(self, name: str) -> bool:
        """False if it is the queue of an older version, and gone."""
        if self._is_old(name) and not await queue_exists(self._connection, name):
            return False
        channel = await self._connection.channel(publisher_confirms=True, on_return_raises=True)
        try:
            await self._subscribe(channel, name)
        except BaseException:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await channel.close()
            raise
        return True

    def _is_old(self, name: str) -> bool:
        """The single queue of the version before partitions: consumed while it exists, never declared."""
        return self._queue.partitioned and name == self._queue.name

    async def _subscribe(self, channel: AbstractChannel, name: str) -> None:
        inbox = self._inbox
        await channel.set_qos(prefetch_count=self._prefetch)
        if self._is_old(name):
            declared = await channel.declare_queue(name, passive=True)
        elif self._declares:
            declared = (await declare(channel, self._queue, [name]))[name]
        else:
            declared = (await expect(channel, self._queue, [name], publishing=False))[name]
        # The subscription keeps the channel: one without references would be garbage-collected.
        subscription = Subscription(name, channel, inbox)
        channel.close_callbacks.add(
            lambda *_: inbox.lose() if inbox.subscriptions.get(name) is subscription else None, weak=False
        )
        await declared.consume(subscription.receive)
        if channel.is_closed:
            raise ConsumerLost(f"the channel of {name} was closed")
        inbox.subscriptions[name] = subscription
