"""Confirm a hold, also after it has run out: who has paid gets a seat as long as one is free."""

from services.bookings.actions.class_changes import promote_waitlist
from services.bookings.actions.lock_by_booking import begins_anew, lock_class_of
from services.bookings.context import Bookings
from services.bookings.errors import BookingNotHeld, refusal
from services.bookings.rules.booking_decision import check_late_confirm, check_member, first_failed
from services.bookings.rules.booking_facts import BookingFacts
from services.bookings.rules.eligibility import check_eligibility
from services.bookings.store import studios
from services.bookings.store.bookings import BookingRow
from services.bookings.wire.bookings import Booking, BookingStatus
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
        facts = await changes.booking_facts(conn, booking.member_id, booking.class_spot_id)
        _refuse(facts, booking)
        charged = check_eligibility(facts.class_, facts.member, facts.now).credits_charged
        changes.confirm_hold(booking, credits_charged=charged)
        await changes.save(conn)
    service.wakeup.notify()
    return booking.to_wire()


def _refuse(facts: BookingFacts, booking: BookingRow) -> None:
    """Who still has the seat only needs to be able to pay for it."""
    if booking.status is BookingStatus.HELD:
        checks = [check_member(facts.class_, facts.member, facts.now)]
    else:
        checks = check_late_confirm(facts, spot_id=booking.class_spot_id, expired_at=booking.held_until)
    if failed := first_failed(checks):
        raise refusal(failed.code, failed.details, failed.param)
