"""Wiring of the catalog service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.catalog.context import Catalog
from services.catalog.routes import routes
from shared.background import Wakeup, running
from shared.db.database import Database
from shared.events.bus import Bus
from shared.events.relay import Relay
from shared.http.caller import CallerVerifier
from shared.http.health import OptionalCheck
from shared.http.service import Service, build_service
from shared.settings import Settings

__all__ = ["open_service", "routes"]


@asynccontextmanager
async def open_service(settings: Settings, bus: Bus) -> AsyncIterator[Service[Catalog]]:
    assert settings.database_url is not None
    db = await Database.connect(
        settings.database_url, "catalog", size=settings.pool_size, direct_url=settings.database_direct_url
    )
    wakeup = Wakeup()
    relay = Relay(db, bus, wakeup, service="catalog")
    try:
        async with running(relay.loops):
            yield build_service(
                "catalog",
                Catalog(db, wakeup),
                routes(),
                verifier=CallerVerifier(settings.caller_keys_of("catalog")),
                checks={
                    "database": db.is_ready,
                    "writes": OptionalCheck(db.write_problem),
                    "relay": OptionalCheck(relay.loop.problem),
                    "bus": OptionalCheck(bus.problem),
                },
            )
    finally:
        await relay.stop()
        await db.close()
