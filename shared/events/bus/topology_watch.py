"""Declares all exchanges, queues and bindings at connection, and again while running.

One of them may be deleted at any time. Producers with their own broker users may not declare them, and
whether a binding exists can only be found out by making it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog
from aio_pika.abc import AbstractChannel, AbstractExchange

from shared.background import end_tasks
from shared.events.bus.declarations import declare, expect
from shared.events.bus.topology import EVENT_LOG, Queue

log = structlog.get_logger("bus")

WATCH_SECONDS = 5.0


async def declare_all(
    channel: AbstractChannel, queues: Sequence[Queue], partitions: int
) -> dict[str, AbstractExchange]:
    """Every queue that is published to, since a producer may start before the consumers."""
    for queue in queues:
        await declare(channel, queue, queue.names(partitions))
    return await _exchanges(channel, queues)


async def expect_event_log(channel: AbstractChannel, partitions: int) -> dict[str, AbstractExchange]:
    """For a producer whose user may not declare."""
    await expect(channel, EVENT_LOG, EVENT_LOG.names(partitions), publishing=True)
    return await _exchanges(channel, [EVENT_LOG])


async def _exchanges(channel: AbstractChannel, queues: Sequence[Queue]) -> dict[str, AbstractExchange]:
    found = {queue.exchange: await channel.get_exchange(queue.exchange, ensure=False) for queue in queues}
    return {"": channel.default_exchange, **found}


class TopologyWatch:
    """Repeats `declare` in the background, in one of the replicas: the one that has the first partition."""

    def __init__(self, declare: Callable[[], Awaitable[None]]) -> None:
        self.is_ours = False
        self._declare = declare
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="bus:topology")

    async def stop(self) -> None:
        if self._task is not None:
            await end_tasks([self._task])

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if not self.is_ours:
                continue
            try:
                async with asyncio.timeout(WATCH_SECONDS):
                    await self._declare()
            except Exception as problem:
                # Publishers and consumers report the cause to readiness.
                log.warning("topology_not_declared", error=str(problem) or type(problem).__name__)
