"""Wiring of the bookings service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.bookings.actions.due_work import (
    expire_waitlists,
    prune_idempotency_keys,
    update_due_memberships,
)
from services.bookings.context import Bookings
from services.bookings.routes import routes
from shared.background import Loop, Wakeup, running
from shared.db.database import Database
from shared.events.bus import Bus
from shared.events.relay import Relay
from shared.http.caller import CallerVerifier
from shared.http.health import OptionalCheck
from shared.http.service import Service, build_service
from shared.settings import Settings

__all__ = ["open_service", "routes"]


@asynccontextmanager
async def open_service(settings: Settings, bus: Bus) -> AsyncIterator[Service[Bookings]]:
    assert settings.database_url is not None
    db = await Database.connect(
        settings.database_url, "bookings", size=settings.pool_size, direct_url=settings.database_direct_url
    )
    wakeup = Wakeup()
    service = Bookings(db=db, wakeup=wakeup)
    relay = Relay(db, bus, wakeup, service="bookings")
    loops = {
        "relay": relay.loop,
        "outbox": relay.reporting,
        "waitlists": Loop("bookings-waitlists", lambda: expire_waitlists(service), idle=1.0),
        "memberships": Loop("bookings-memberships", lambda: update_due_memberships(service), idle=1.0),
        "pruning": Loop("bookings-pruning", lambda: prune_idempotency_keys(service), idle=60.0),
    }

    try:
        async with running(loops.values()):
            yield build_service(
                "bookings",
                service,
                routes(),
                verifier=CallerVerifier(settings.caller_keys_of("bookings")),
                checks={
                    "database": db.is_ready,
                    "writes": OptionalCheck(db.write_problem),
                    "bus": OptionalCheck(bus.problem),
                    **{part: OptionalCheck(loop.problem) for part, loop in loops.items()},
                },
            )
    finally:
        await relay.stop()
        await db.close()
