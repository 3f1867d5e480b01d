"""Wiring of the forms service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from services.forms.actions.convert_leads import convert_leads
from services.forms.context import Forms
from services.forms.routes import routes
from shared.background import Loop, Wakeup, running
from shared.db.database import Database
from shared.events.bus import EVENT_LOG, NEW_MEMBERS, Bus, Message
from shared.events.leases import RENEW_SECONDS
from shared.events.reconcile import EVERY_SECONDS as RECONCILE_SECONDS
from shared.events.reconcile import Reconciler
from shared.events.relay import Relay
from shared.http.caller import CallerVerifier
from shared.http.health import OptionalCheck
from shared.http.service import Service, build_service
from shared.phones import read_regions
from shared.settings import Settings

__all__ = ["open_service", "routes"]


@asynccontextmanager
async def open_service(settings: Settings, bus: Bus) -> AsyncIterator[Service[Forms]]:
    assert settings.database_url is not None
    db = await Database.connect(
        settings.database_url, "forms", size=settings.pool_size, direct_url=settings.database_direct_url
    )
    wakeup = Wakeup()
    service = Forms(db=db, wakeup=wakeup, regions=read_regions())
    relay = Relay(db, bus, wakeup, service="forms")
    reconciler = Reconciler(db, bus, relay.leases, service="forms", queue=EVENT_LOG)
    reconciling = Loop("forms-reconciler", reconciler.step, idle=RECONCILE_SECONDS)
    loop = Loop("forms-relay", relay.step, idle=1.0, wakeup=wakeup, longest_pause=RENEW_SECONDS)

    async def members_joined(messages: Sequence[Message]) -> None:
        await convert_leads(service, messages)

    try:
        await relay.start()
        await bus.subscribe(NEW_MEMBERS, members_joined, batch=50)
        async with running([loop, reconciling]):
            yield build_service(
                "forms",
                service,
                routes(),
                verifier=CallerVerifier(settings.caller_keys_of("forms")),
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
