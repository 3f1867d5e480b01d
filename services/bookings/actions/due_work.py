"""What this service does by itself: waitlists expire, memberships follow their dates."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import asyncpg
import structlog

from services.bookings.actions.change_membership import update_due_membership
from services.bookings.actions.class_changes import ClassChanges
from services.bookings.context import Bookings
from services.bookings.store import classes, memberships
from services.bookings.wire.bookings import BookingStatus, WaitlistStatus
from shared.db.database import Connection
from shared.events.kinds import BookingExpired
from shared.http.caller import Caller

log = structlog.get_logger("bookings")

BATCH_SIZE = 100

Cursor = tuple[datetime, str, str]
# Finds at most that many rows after the cursor: studio, id and due time, ordered by due time.
Find = Callable[[Connection, int, Cursor | None], Awaitable[list[asyncpg.Record]]]
Act = Callable[[Bookings, Caller, str], Awaitable[object]]


async def process_due(service: Bookings, find: Find, act: Act, *, failed: str) -> None:
    """Everything that is due now. A row that fails is logged as `failed` and retried next time."""
    after: Cursor | None = None
    while True:
        async with service.db.connection() as conn:
            found = await find(conn, BATCH_SIZE, after)
        for studio_id, row_id, moment in found:
            after = (moment, studio_id, row_id)
            try:
                await act(service, Caller(studio_id=studio_id, actor="operator"), row_id)
            except Exception:
                log.exception(failed, studio_id=studio_id, id=row_id)
        if len(found) < BATCH_SIZE:
            return


async def expire_waitlists(service: Bookings) -> bool:
    """One step of the loop."""
    await process_due(service, classes.started_with_waitlist, expire_waitlist, failed="waitlist_not_expired")
    return False


async def expire_waitlist(service: Bookings, caller: Caller, class_id: str) -> None:
    async with service.db.transaction() as conn:
        changes = await ClassChanges.lock(conn, caller, class_id)
        if changes is None or changes.class_.start_time > changes.now:
            return
        await changes.load_waitlist(conn)
        for entry in list(changes.waiting):
            changes.leave_waitlist(entry, WaitlistStatus.EXPIRED)
            booking = changes.bookings[entry.booking_id]
            changes.set_status(booking, BookingStatus.EXPIRED)
            changes.add_event(BookingExpired, booking)
        await changes.save(conn)
    service.wakeup.notify()


async def update_due_memberships(service: Bookings) -> bool:
    """One step of the loop."""
    await process_due(service, memberships.due, update_due_membership, failed="membership_not_updated")
    return False
