"""Wiring of the forms service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from services.forms.actions.leads import convert_leads
from services.forms.context import Forms
from services.forms.routes import routes
from shared.background import Wakeup, running
from shared.db.database import Database
from shared.events.bus import NEW_MEMBERS, Bus, Message
from shared.events.leases import check_writable
from shared.events.relay import Relay
from shared.http.caller import CallerVerifier
from shared.http.health import OptionalCheck
from shared.http.service import Service, build_service
from shared.settings import Settings

__all__ = ["open_service", "routes"]


@asynccontextmanager
async def open_service(settings: Settings, bus: Bus) -> AsyncIterator[Service[Forms]]:
    assert settings.database_url is not None
    db = await Database.connect(
        settings.database_url, "forms", size=settings.pool_size, direct_url=settings.database_direct_url
    )
    wakeup = Wakeup()
    service = Forms(db, wakeup)
    relay = Relay(db, bus, wakeup, service="forms")

    async def members_joined(messages: Sequence[Message]) -> None:
        await convert_leads(service, messages)

    try:
        await bus.subscribe(NEW_MEMBERS, members_joined, ready=partial(check_writable, db, NEW_MEMBERS.name))
        async with running(relay.loops):
            yield build_service(
                "forms",
                service,
                routes(),
                verifier=CallerVerifier(settings.caller_keys_of("forms")),
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
