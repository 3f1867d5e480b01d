"""`studioctl serve SERVICE`: one service, without the code of the others in its memory."""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.cli.errors import CommandFailed
from services.cli.run_async import run_async
from services.cli.secrets import with_secrets
from shared.db.migrate import until_applied
from shared.events.bus.factory import open_bus
from shared.http.server import Address, Listener, catch_stop_signals, listening
from shared.http.service import OpenService
from shared.observability.log import set_up_logging
from shared.observability.tracing import set_up_tracing
from shared.settings import Settings


def serve(settings: Settings, given: argparse.Namespace) -> None:
    service: str = given.service
    settings = with_secrets(settings, make=False)
    if missing := settings.missing_secrets(service):
        raise CommandFailed(f"{service} cannot start without {' and '.join(missing)}.")
    if settings.database_url is None:
        raise CommandFailed(f"{service} cannot start without STUDIO_DATABASE_URL.")
    if settings.amqp_url is None and service not in ("gateway", "catalog"):
        raise CommandFailed(f"{service} cannot start without STUDIO_AMQP_URL: its events would reach nobody.")
    set_up_logging(settings, service)
    set_up_tracing(settings, service)
    run_async(_serve(settings, service))


async def _serve(settings: Settings, service: str) -> None:
    assert settings.database_url is not None
    await until_applied(settings.database_url, service)
    async with _listeners(settings, service) as listeners, listening(listeners) as draining:
        if await catch_stop_signals() == "SIGTERM":
            await draining.drain(settings.drain_seconds)


@asynccontextmanager
async def _listeners(settings: Settings, service: str) -> AsyncIterator[list[Listener]]:
    if service == "gateway":
        from services.gateway.app import OPERATOR_TIMEOUT, gateway_listeners, http_upstreams, open_gateway

        partner = http_upstreams(settings, answer_timeout=settings.answer_timeout)
        operator = http_upstreams(settings, answer_timeout=OPERATOR_TIMEOUT)
        async with open_gateway(settings, partner, operator) as gateway:
            yield gateway_listeners(settings, gateway)
        return
    async with open_bus(settings.amqp_url) as bus, _opener(service)(settings, bus) as running:
        yield [Listener(Address(service, settings.host, settings.port_of(service)), running.app)]


def _opener(service: str) -> OpenService:
    """Only the service's own code is imported."""
    if service == "catalog":
        from services.catalog.app import open_service as open_catalog

        return open_catalog
    if service == "bookings":
        from services.bookings.app import open_service as open_bookings

        return open_bookings
    if service == "forms":
        from services.forms.app import open_service as open_forms

        return open_forms
    from services.webhooks.app import open_service as open_webhooks

    return open_webhooks
