"""Expires the waitlist of every class that has started."""

from services.bookings.actions.class_changes import ClassChanges
from services.bookings.actions.process_due import process_due
from services.bookings.context import Bookings
from services.bookings.store import classes
from services.bookings.wire.bookings import BookingStatus
from services.bookings.wire.waitlist import WaitlistStatus
from shared.events.kinds import BookingExpired
from shared.http.caller import Caller


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
