"""The only file that knows every service: all of them in one process, for `studioctl up` and the tests."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import Any

from services.gateway.app import OPERATOR_TIMEOUT, Gateway, open_gateway
from services.gateway.upstream import AsgiUpstream, Upstream
from shared.events.bus import Bus
from shared.events.bus.factory import open_bus
from shared.http.service import Service
from shared.settings import Settings

OpenService = Callable[[Settings, Bus], AbstractAsyncContextManager[Service[Any]]]

# Consumers first: an event published before its consumer is there would only wait for the next try.
ORDER = ("webhooks", "forms", "bookings", "catalog")


def opener(name: str) -> OpenService:
    open_service: OpenService = import_module(f"services.{name}.app").open_service
    return open_service


@asynccontextmanager
async def open_all(settings: Settings) -> AsyncIterator[Gateway]:
    """Every service behind a gateway that calls them without a socket."""
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(open_bus(settings.amqp_url))
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
