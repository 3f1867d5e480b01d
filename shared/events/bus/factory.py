"""Opens the bus of a process: RabbitMQ or in-process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from shared.events.bus.protocol import Bus, BusError

if TYPE_CHECKING:
    from shared.events.bus.rabbit import RabbitBus

log = structlog.get_logger("start")


@asynccontextmanager
async def open_bus(amqp_url: str | None, partitions: int, service: str | None = None) -> AsyncIterator[Bus]:
    """RabbitMQ if a URL is set, otherwise the in-process bus. `service` if it has its own broker user."""
    bus: Bus
    if amqp_url is not None:
        from shared.events.bus.rabbit import RabbitBus

        bus = await _started(RabbitBus(amqp_url, partitions=partitions, service=service))
    else:
        from shared.events.bus.memory import MemoryBus

        bus = MemoryBus()
    try:
        yield bus
    finally:
        await bus.close()


async def _started(bus: "RabbitBus") -> Bus:
    """An unavailable broker does not block the start: the outbox keeps events, and `publish` reconnects."""
    from shared.events.bus.declarations import QueueMismatch

    try:
        await bus.ensure_connected()
    except QueueMismatch:
        raise
    except BusError as problem:
        log.warning("broker_not_reachable_yet", error=str(problem))
    return bus
