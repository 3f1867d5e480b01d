"""Cancel a booking under the current policy, and promote from the waitlist in the same transaction."""

import msgspec

from services.bookings.actions.class_changes import promote_waitlist
from services.bookings.actions.lock_by_booking import begins_anew, lock_class_of, read_with_class
from services.bookings.context import Bookings
from services.bookings.errors import BookingAlreadyCancelled, BookingNotCancellable, CancellationTermsChanged
from services.bookings.rules.cancellation import Policy, Terms, may_cancel, terms_for_member
from services.bookings.rules.rescheduling import check_terms
from services.bookings.store import bookings, save_class_changes, studios
from services.bookings.store.bookings import BookingRow
from services.bookings.store.locks import LockedClass
from services.bookings.store.save_class_changes import ReceiptRow, build_receipt
from services.bookings.wire.bookings import BookingStatus, CancellationReceipt, CancelQuery
from shared.db.database import Connection
from shared.errors import InsufficientScope, NotFound
from shared.http.caller import Caller

CANCEL = "bookings:cancel"


@begins_anew
async def cancel_booking(
    service: Bookings, caller: Caller, booking_id: str, query: CancelQuery
) -> CancellationReceipt:
    async with service.db.transaction() as conn:
        receipt = await _cancel(conn, caller, booking_id, query)
    service.wakeup.notify()
    return receipt


async def may_repeat_cancellation(service: Bookings, caller: Caller, booking_id: str) -> None:
    """Another API key of the same client may see fewer locations."""
    async with service.db.connection() as conn:
        booking = await bookings.read(conn, caller, booking_id)
    if booking is None:
        raise NotFound
    _require_scope(caller, held=booking.only_held)


async def may_repeat_confirmation(service: Bookings, caller: Caller, booking_id: str) -> None:
    async with service.db.connection() as conn:
        if await bookings.read(conn, caller, booking_id) is None:
            raise NotFound


def _require_scope(caller: Caller, *, held: bool) -> None:
    """A hold may be given up by whoever may make one."""
    if caller.actor == "client" and not held and CANCEL not in caller.scopes:
        raise InsufficientScope(CANCEL, caller.scopes)


async def _cancel(
    conn: Connection, caller: Caller, booking_id: str, query: CancelQuery
) -> CancellationReceipt:
    changes, booking = await lock_class_of(conn, caller, booking_id)
    _require_scope(caller, held=booking.status is BookingStatus.HELD)
    policy = await studios.policy(conn, caller)
    terms = await terms_of(conn, caller, booking, LockedClass(changes.class_, changes.now), policy)
    accepted = check_terms(terms, query)
    if not accepted.passed:
        raise CancellationTermsChanged(details=accepted.details)
    await changes.load_waitlist(conn)
    receipt = changes.cancel(booking, terms, query.reason)
    await promote_waitlist(
        conn, changes, policy, also_lock=[booking.member_id] if terms.credits_restored else []
    )
    await changes.save(conn)
    return receipt


async def terms_of(
    conn: Connection, caller: Caller, booking: BookingRow, locked: LockedClass, policy: Policy
) -> Terms:
    if booking.status is BookingStatus.CANCELLED:
        receipt = await save_class_changes.read_receipt(conn, caller, booking.id)
        raise BookingAlreadyCancelled(details={"receipt": receipt})
    seat = booking.to_cancel(locked.class_.start_time)
    if not may_cancel(seat, locked.now):
        raise BookingNotCancellable(details={"status": booking.status})
    return terms_for_member(seat, policy, locked.now)


async def preview_cancellation(service: Bookings, caller: Caller, booking_id: str) -> CancellationReceipt:
    async with service.db.connection() as conn:
        booking, class_ = await read_with_class(conn, caller, booking_id)
        policy = await studios.policy(conn, caller)
        terms = await terms_of(conn, caller, booking, class_, policy)
    row = ReceiptRow(
        id="", booking_id=booking.id, cancelled_at=class_.now, reason=None, **msgspec.structs.asdict(terms)
    )
    return build_receipt(row, booking)
