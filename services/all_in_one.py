"""The only file that knows every service: all of them in one process, for `studioctl up` and the tests."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import structlog

from services.gateway.app import OPERATOR_TIMEOUT, Gateway, open_gateway
from services.gateway.upstream import AsgiUpstream, Upstream
from shared.bus import Bus
from shared.service import Service
from shared.settings import Settings

if TYPE_CHECKING:
    from shared.bus.rabbit import RabbitBus

log = structlog.get_logger("start")

OpenService = Callable[[Settings, Bus], AbstractAsyncContextManager[Service[Any]]]

# Consumers first: an event published before its consumer is there would only wait for the next try.
ORDER = ("webhooks", "forms", "bookings", "catalog")


def opener(name: str) -> OpenService:
    """Imported by name, so that `studioctl serve` loads one service and not five."""
    open_service: OpenService = import_module(f"services.{name}.app").open_service
    return open_service


@asynccontextmanager
async def open_bus(settings: Settings) -> AsyncIterator[Bus]:
    """RabbitMQ where a URL is set, else the bus of one process."""
    bus: Bus
    if settings.amqp_url is not None:
        from shared.bus.rabbit import RabbitBus

        bus = await _started(RabbitBus(settings.amqp_url))
    else:
        from shared.bus.memory import MemoryBus

        bus = MemoryBus()
    try:
        yield bus
    finally:
        await bus.close()


async def _started(bus: "RabbitBus") -> Bus:
    """A broker that is away holds nobody up: the outbox keeps the events, and `publish` connects anew."""
    from aio_pika.exceptions import AMQPError

    try:
        return await bus.connect()
    except (AMQPError, OSError, TimeoutError) as problem:
        log.warning("broker_not_reachable_yet", error=type(problem).__name__)
        return bus


@asynccontextmanager
async def open_all(settings: Settings) -> AsyncIterator[Gateway]:
    """Every service behind a gateway that calls them without a socket."""
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(open_bus(settings))
        services = {name: await stack.enter_async_context(opener(name)(settings, bus)) for name in ORDER}
        yield await stack.enter_async_context(
            open_gateway(
                settings,
                _in_process(services, settings.answer_timeout),
                _in_process(services, OPERATOR_TIMEOUT),
                checks={
                    f"{name}.{part}": check
                    for name, service in services.items()
                    for part, check in service.checks.items()
                },
            )
        )


def _in_process(services: Mapping[str, Service[Any]], answer_timeout: float) -> dict[str, Upstream]:
    return {
        name: AsgiUpstream(service.app, answer_timeout=answer_timeout)  # type: ignore[arg-type]
        for name, service in services.items()
    }
