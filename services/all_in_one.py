"""Every service in one process, for `studioctl up` and the tests. Only this file knows all of them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from services.bookings import app as bookings
from services.catalog import app as catalog
from services.forms import app as forms
from services.gateway.app import OPERATOR_TIMEOUT, Gateway, open_gateway
from services.gateway.rules.waits import GRACE, LONGEST, WAITING
from services.gateway.upstream import AsgiUpstream, Upstream
from services.webhooks import app as webhooks
from shared.events.bus import open_bus
from shared.http.response import seed_tags
from shared.http.service import OpenService, Service
from shared.settings import Settings

# Consumers first: an event published before its consumer exists would have to wait for the next poll.
OPEN_SERVICE: dict[str, OpenService] = {
    "webhooks": webhooks.open_service,
    "forms": forms.open_service,
    "bookings": bookings.open_service,
    "catalog": catalog.open_service,
}


@asynccontextmanager
async def open_all(settings: Settings) -> AsyncIterator[Gateway]:
    """Opens every service behind a gateway that calls them without sockets."""
    seed_tags((settings.caller_keys or settings.key_peppers)[0])
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(open_bus(settings.amqp_url))
        services = {
            name: await stack.enter_async_context(open_service(settings, bus))
            for name, open_service in OPEN_SERVICE.items()
        }
        yield await stack.enter_async_context(
            open_gateway(
                settings,
                _in_process(services, settings.answer_timeout)
                | {WAITING: AsgiUpstream(services["webhooks"].app, response_timeout=LONGEST + GRACE)},
                _in_process(services, OPERATOR_TIMEOUT),
                checks={
                    f"{name}.{part}": check
                    for name, service in services.items()
                    for part, check in service.checks.items()
                },
            )
        )


def _in_process(services: Mapping[str, Service[Any]], response_timeout: float) -> dict[str, Upstream]:
    return {
        name: AsgiUpstream(service.app, response_timeout=response_timeout)
        for name, service in services.items()
    }
