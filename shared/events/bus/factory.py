"""Opens the bus of a process: RabbitMQ or in-process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.events.bus.protocol import Bus


@asynccontextmanager
async def open_bus(amqp_url: str | None, service: str = "webhooks") -> AsyncIterator[Bus]:
    """RabbitMQ if a URL is set, otherwise the in-process bus. `service` says what may be declared.

    An unavailable broker does not block the start: the outbox keeps events, and relays connect later.
    """
    bus: Bus
    if amqp_url is not None:
        from shared.events.bus.rabbit import RabbitBus

        bus = RabbitBus(amqp_url, service)
    else:
        from shared.events.bus.memory import MemoryBus

        bus = MemoryBus()
    try:
        yield bus
    finally:
        await bus.close()
