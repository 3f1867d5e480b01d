"""`studioctl serve SERVICE`: one service, without the code of the others in its memory."""

import asyncio
import os
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any, Final, Literal

from msgspec import structs

from services.cli.command import CommandFailed
from services.cli.database import run_async
from services.cli.secrets import with_secrets
from shared.db.migrate import until_applied
from shared.events.bus import open_bus
from shared.http.asgi import ASGIApp
from shared.http.connection_limits import ConnectionLimits
from shared.http.response import seed_tags
from shared.http.server import Address, Listener, catch_stop_signals, listening, tune_interpreter
from shared.http.service import OpenService, StartupPlaceholder
from shared.observability.log import set_up_logging
from shared.observability.tracing import set_up_tracing
from shared.settings import Settings

# Of webhooks, as `nice` counts: where requests and deliveries share a processor, a delivery can wait.
BEHIND_REQUESTS: Final = 10


def serve(settings: Settings, service: str, only: Literal["log", "dispatch"] | None) -> None:
    if only is not None:
        if service != "webhooks":
            raise CommandFailed(f"{service} has no roles: --only is for webhooks.")
        settings = structs.replace(settings, webhooks_only=only)
    settings = with_secrets(settings, make=False)
    if missing := settings.missing_secrets(service):
        raise CommandFailed(f"{service} cannot start without {' and '.join(missing)}.")
    if settings.database_url is None:
        raise CommandFailed(f"{service} cannot start without STUDIO_DATABASE_URL.")
    if settings.amqp_url is None and service != "gateway":
        raise CommandFailed(f"{service} cannot start without STUDIO_AMQP_URL: its events would reach nobody.")
    if service == "webhooks":
        os.nice(BEHIND_REQUESTS)
    set_up_logging(settings, service)
    set_up_tracing(settings, service)
    seed_tags((settings.caller_keys_of(service) or settings.key_peppers)[0])
    run_async(_serve(settings, service))


async def _serve(settings: Settings, service: str) -> None:
    """Answer on the ports from the start, so that a probe sees a waiting process, not a dead one."""
    stopped = catch_stop_signals()
    waiting_for: dict[str, str] = {}
    fronts = [StartupPlaceholder(waiting_for) for _ in range(2 if service == "gateway" else 1)]
    up, leave = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(_run(settings, service, fronts, waiting_for, up, leave), name=service)
    try:
        async with listening(_listeners(settings, service, fronts)) as draining:
            ends: set[asyncio.Future[Any]] = {running, stopped}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if up.is_set() and not running.done() and stopped.result() == "SIGTERM":
                await draining.drain(settings.drain_seconds)
    finally:
        leave.set()
        if not up.is_set():
            running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def _run(
    settings: Settings,
    service: str,
    fronts: list[StartupPlaceholder],
    waiting_for: MutableMapping[str, str],
    up: asyncio.Event,
    leave: asyncio.Event,
) -> None:
    """From the first check of the schema until everything is closed again, in one task."""
    assert settings.database_url is not None
    await until_applied(settings.database_url, service, waiting_for)
    async with _apps(settings, service) as apps:
        for front, app in zip(fronts, apps, strict=True):
            front.become(app)
        tune_interpreter()
        up.set()
        await leave.wait()


def _listeners(settings: Settings, service: str, fronts: list[StartupPlaceholder]) -> list[Listener]:
    if service == "gateway":
        from services.gateway.app import gateway_listeners

        return gateway_listeners(settings, *fronts)
    [front] = fronts
    # Gateways hold a connection for each request that waits for events.
    limits = ConnectionLimits(max_connections=16_384)
    return [Listener(Address(service, settings.host, settings.port_of(service)), front, limits)]


@asynccontextmanager
async def _apps(settings: Settings, service: str) -> AsyncIterator[list[ASGIApp]]:
    """One for each port."""
    if service == "gateway":
        from services.gateway.app import OPERATOR_TIMEOUT, http_upstreams, open_gateway, waiting_upstream
        from services.gateway.rules.waits import WAITING

        partner = http_upstreams(settings, response_timeout=settings.answer_timeout)
        partner[WAITING] = waiting_upstream(settings)
        operator = http_upstreams(settings, response_timeout=OPERATOR_TIMEOUT)
        async with open_gateway(settings, partner, operator) as gateway:
            yield [gateway.partner_app, gateway.operator_app]
        return
    # Only the service's own code is imported.
    open_service: OpenService = import_module(f"services.{service}.app").open_service
    async with open_bus(settings.amqp_url, service) as bus, open_service(settings, bus) as running:
        yield [running.app]
