"""Waitlists of classes that have started expire by themselves; old idempotency keys are pruned."""

from services.bookings.actions.one_by_one import one_by_one
from services.bookings.actions.roster import Roster
from services.bookings.context import Bookings
from services.bookings.store import classes, idempotency
from services.bookings.wire.bookings import BookingStatus
from services.bookings.wire.waitlist import WaitlistStatus
from shared.http.caller import Caller

PRUNED_AT_ONCE = 1000


async def expire_waitlists(service: Bookings) -> bool:
    """One step of the loop."""
    await one_by_one(service, classes.started_with_waitlist, expire_waitlist, failed="waitlist_not_expired")
    return False


async def expire_waitlist(service: Bookings, caller: Caller, class_id: str) -> None:
    async with service.db.transaction() as conn:
        roster = await Roster.open(conn, caller, class_id)
        if roster is None or roster.class_.start_time > roster.now:
            return
        await roster.load_waiting(conn)
        for entry in list(roster.waiting):
            roster.leave(entry, WaitlistStatus.EXPIRED)
            roster.move(roster.bookings[entry.booking_id], BookingStatus.EXPIRED)
        await roster.save(conn)
    service.wakeup.notify()


async def prune_keys(service: Bookings) -> bool:
    async with service.db.connection() as conn:
        return await idempotency.prune(conn, PRUNED_AT_ONCE) == PRUNED_AT_ONCE
