"""Wiring of the bookings service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.bookings.actions.due_work import expire_waitlists, update_due_memberships
from services.bookings.actions.end_holds import end_holds
from services.bookings.context import Bookings
from services.bookings.routes import routes
from shared.background import Loop
from shared.events.bus import Bus
from shared.http.idempotency.stored_responses import pruning
from shared.http.service import Service
from shared.publisher import open_publisher
from shared.settings import Settings

__all__ = ["open_service", "routes"]


@asynccontextmanager
async def open_service(settings: Settings, bus: Bus) -> AsyncIterator[Service[Bookings]]:
    async with open_publisher("bookings", settings, bus) as publisher:
        bookings = Bookings(db=publisher.db, wakeup=publisher.wakeup)
        loops = {
            "waitlists": Loop("bookings-waitlists", lambda: expire_waitlists(bookings), idle=1.0),
            "holds": Loop("bookings-holds", lambda: end_holds(bookings), idle=1.0),
            "memberships": Loop("bookings-memberships", lambda: update_due_memberships(bookings), idle=1.0),
            "pruning": pruning(publisher.db, "bookings"),
        }
        async with publisher.serve(bookings, routes(), loops) as service:
            yield service
