"""Confirm a hold, also after it has run out: who has paid gets a seat as long as one is free."""

from services.bookings.actions.class_changes import ClassChanges, begins_anew, lock_class_of, promote_waitlist
from services.bookings.context import Bookings
from services.bookings.errors import BookingNotHeld, refusal
from services.bookings.rules.booking_decision import check_late_confirm, check_member, first_failed
from services.bookings.rules.booking_facts import BookingFacts, LiveBooking
from services.bookings.rules.eligibility import check_eligibility
from services.bookings.rules.transitions import LIVE
from services.bookings.store import bookings, studios
from services.bookings.store.bookings import BookingRow
from services.bookings.wire.bookings import Booking, BookingStatus
from shared.db.database import Connection
from shared.http.caller import Caller


@begins_anew
async def confirm_hold(service: Bookings, caller: Caller, booking_id: str) -> Booking:
    async with service.db.transaction() as conn:
        changes, booking = await lock_class_of(conn, caller, booking_id)
        if not booking.only_held or booking.status is BookingStatus.CANCELLED:
            raise BookingNotHeld(details={"status": booking.status})
        # Seats of holds that have run out, also of this one, belong to the waitlist first.
        await changes.load_waitlist(conn)
        await promote_waitlist(
            conn, changes, await studios.policy(conn, caller), also_lock=[booking.member_id]
        )
        facts = await _facts(conn, changes, booking)
        _refuse(facts, booking)
        charged = check_eligibility(facts.class_, facts.member, facts.now).credits_charged
        changes.confirm_hold(booking, credits_charged=charged)
        await changes.save(conn)
    service.wakeup.notify()
    return booking.to_wire()


async def _facts(conn: Connection, changes: ClassChanges, booking: BookingRow) -> BookingFacts:
    class_id, member_id = booking.class_id, booking.member_id
    live = await bookings.live_of_member(conn, changes.caller, class_id, member_id, changes.now)
    # The member may have been promoted, or skipped, just now.
    other = changes.bookings.get(live.id) if live else None
    if other is not None:
        live = LiveBooking(id=other.id, status=other.status) if other.status in LIVE else None
    return BookingFacts(
        now=changes.now,
        class_=changes.class_,
        member=changes.members[member_id],
        live=live,
        spots=await changes.read_spots(conn) if booking.class_spot_id is not None else [],
    )


def _refuse(facts: BookingFacts, booking: BookingRow) -> None:
    """Who still has the seat only needs to be able to pay for it."""
    if booking.status is BookingStatus.HELD:
        checks = [check_member(facts.class_, facts.member, facts.now)]
    else:
        checks = check_late_confirm(facts, spot_id=booking.class_spot_id, expired_at=booking.held_until)
    if failed := first_failed(checks):
        raise refusal(failed.code, failed.details, failed.param)
