"""The commands that run things: up, serve, migrate."""

import argparse
import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import uvloop

from services.cli.output import show
from services.cli.problem import CommandFailed
from services.cli.secrets import with_secrets
from services.cli.up import run_up
from shared.log import set_up_logging
from shared.migrate import MigrationProblem, migrate, until_applied
from shared.serve import Address, Listener, PortTaken, listening, until_stopped
from shared.servers.problem import ServerProblem
from shared.settings import SERVICES, Settings, with_files
from shared.tracing import set_up_tracing


def up(settings: Settings, given: argparse.Namespace) -> None:
    home = Path(given.home).absolute() if given.home else settings.home
    settings = msgspec.structs.replace(
        settings,
        home=home,
        port=given.port if given.port is not None else settings.port,
        operator_port=given.operator_port if given.operator_port is not None else settings.operator_port,
    )
    set_up_logging(settings, "studio")
    set_up_tracing(settings, "studio")
    run_loop(run_up(settings, demo=not given.no_demo))


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
    run_loop(_serve(settings, service))


async def _serve(settings: Settings, service: str) -> None:
    assert settings.database_url is not None
    await until_applied(settings.database_url, service)
    async with _listeners(settings, service) as listeners, listening(listeners) as draining:
        if await until_stopped() == "SIGTERM":
            await draining.let_go(settings.drain_seconds)


@asynccontextmanager
async def _listeners(settings: Settings, service: str) -> AsyncIterator[list[Listener]]:
    if service == "gateway":
        from services.gateway.app import OPERATOR_TIMEOUT, gateway_listeners, http_upstreams, open_gateway

        partner = http_upstreams(settings, answer_timeout=settings.answer_timeout)
        operator = http_upstreams(settings, answer_timeout=OPERATOR_TIMEOUT)
        async with open_gateway(settings, partner, operator) as gateway:
            yield gateway_listeners(settings, gateway)
        return
    from services.all_in_one import open_bus, opener

    async with open_bus(settings) as bus, opener(service)(settings, bus) as running:
        yield [Listener(Address(service, settings.host, settings.port_of(service)), running.app)]


def migrate_schemas(settings: Settings, given: argparse.Namespace) -> None:
    unknown = [name for name in given.services if name not in SERVICES]
    if unknown:
        raise CommandFailed(f"There is no service {', '.join(unknown)}.", exit_code=2)
    if settings.database_url is None:
        raise CommandFailed("Set STUDIO_DATABASE_URL to a role that may create roles and schemas.")
    set_up_logging(settings, "migrate")
    environ = with_files(os.environ)
    passwords = {
        name: password for name in SERVICES if (password := environ.get(f"STUDIO_{name.upper()}_DB_PASSWORD"))
    }
    applied = run_loop(migrate(settings.database_url, given.services or SERVICES, passwords=passwords))
    show({"object": "migrations", "applied": applied}, as_json=given.json)


def run_loop(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        return uvloop.run(work)
    except (ServerProblem, PortTaken, MigrationProblem) as problem:
        raise CommandFailed(str(problem)) from None
    except (asyncpg.PostgresError, OSError) as problem:
        raise CommandFailed(f"The database cannot be used: {problem}") from None
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
