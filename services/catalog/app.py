"""Wiring of the catalog service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.catalog.context import Catalog
from services.catalog.routes import routes
from shared.background import Loop, Wakeup, running
from shared.db.database import Database
from shared.events.bus import EVENT_LOG, Bus
from shared.events.leases import RENEW_SECONDS
from shared.events.reconcile import EVERY_SECONDS as RECONCILE_SECONDS
from shared.events.reconcile import Reconciler
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
    reconciler = Reconciler(db, bus, relay.leases, service="catalog", queue=EVENT_LOG)
    reconciling = Loop("catalog-reconciler", reconciler.step, idle=RECONCILE_SECONDS)
    loop = Loop("catalog-relay", relay.step, idle=1.0, wakeup=wakeup, longest_pause=RENEW_SECONDS)
    try:
        await relay.start()
        async with running([loop, reconciling]):
            yield build_service(
                "catalog",
                Catalog(db, wakeup),
                routes(),
                verifier=CallerVerifier(settings.caller_keys_of("catalog")),
                checks={
                    "database": db.is_ready,
                    "writes": OptionalCheck(db.write_problem),
                    "relay": OptionalCheck(loop.problem),
                    "bus": OptionalCheck(bus.problem),
                },
            )
    finally:
        await relay.stop()
        await db.close()
