"""Cancel a booking under the current policy, and promote from the waitlist in the same transaction."""

from decimal import Decimal

import msgspec

from services.bookings.actions.class_changes import ClassChanges, build_receipt, promote_waitlist
from services.bookings.actions.idempotency import REPLAYABLE_ERRORS, IdempotentRequest, replay
from services.bookings.context import Bookings
from services.bookings.errors import BookingAlreadyCancelled, BookingNotCancellable, CancellationTermsChanged
from services.bookings.rules.cancellation import Policy, Terms, may_cancel, terms_accepted, terms_for_member
from services.bookings.store import bookings, idempotency, locks, save_class_changes, studios
from services.bookings.store.bookings import BookingRow
from services.bookings.store.locks import LockedClass
from services.bookings.store.save_class_changes import ReceiptRow
from services.bookings.wire.bookings import BookingStatus, CancellationReceipt, CancelQuery
from services.bookings.wire.field_types import format_money
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.error_mapping import response_for
from shared.http.response import Response
from shared.wire import encode


async def cancel_booking(
    service: Bookings, caller: Caller, request: IdempotentRequest, booking_id: str, query: CancelQuery
) -> Response:
    async with service.db.transaction() as conn:
        claim = await idempotency.claim(conn, caller, request.key)
        if claim.state == "busy":
            await idempotency.wait_for_key(conn, caller, request.key)
            claim = await idempotency.claim(conn, caller, request.key)
        if claim.state == "stored":
            return replay(request, claim, caller)
        found = await bookings.read(conn, caller, booking_id)
        class_id = found.class_id if found else None
        try:
            receipt = await _cancel(conn, caller, found, query)
        except REPLAYABLE_ERRORS as problem:
            response = response_for(problem, caller.request_id)
            stored = request.stored_response(
                response, resource_id=found.id if found else None, class_id=class_id
            )
            await idempotency.store(conn, caller, stored)
            return response
        response = Response(encode(receipt))
        stored = request.stored_response(response, resource_id=booking_id, class_id=class_id)
        await idempotency.store(conn, caller, stored)
    service.wakeup.notify()
    return response


async def cancel_at_desk(
    service: Bookings, caller: Caller, booking_id: str, reason: str | None
) -> CancellationReceipt:
    """For staff, who send no Idempotency-Key: a second attempt is refused with the first one's receipt."""
    async with service.db.transaction() as conn:
        found = await bookings.read(conn, caller, booking_id)
        receipt = await _cancel(conn, caller, found, CancelQuery(reason=reason))
    service.wakeup.notify()
    return receipt


async def _cancel(
    conn: Connection, caller: Caller, found: BookingRow | None, query: CancelQuery
) -> CancellationReceipt:
    changes = await ClassChanges.lock(conn, caller, found.class_id) if found else None
    booking = await bookings.read(conn, caller, found.id) if found else None
    if changes is None or booking is None:
        raise NotFound
    policy = await studios.policy(conn, caller)
    terms = await terms_of(conn, caller, booking, LockedClass(changes.class_, changes.now), policy)
    _refuse_worse_terms(terms, query)
    await changes.load_waitlist(conn)
    booking = changes.bookings.setdefault(booking.id, booking)
    receipt = changes.cancel(booking, terms, query.reason)
    await promote_waitlist(
        conn, changes, policy, credited=booking.member_id if terms.credits_restored else None
    )
    await changes.save(conn)
    return receipt


async def terms_of(
    conn: Connection, caller: Caller, booking: BookingRow, locked: LockedClass, policy: Policy
) -> Terms:
    if booking.status is BookingStatus.CANCELLED:
        receipt = await save_class_changes.read_receipt(conn, caller, booking.id)
        raise BookingAlreadyCancelled(details={"receipt": receipt})
    held = booking.held(locked.class_.start_time)
    if not may_cancel(held, locked.now):
        raise BookingNotCancellable(details={"status": booking.status})
    return terms_for_member(held, policy, locked.now)


def _refuse_worse_terms(terms: Terms, query: CancelQuery) -> None:
    limit = None if query.max_late_fee is None else Decimal(query.max_late_fee)
    if not terms_accepted(terms, max_late_fee=limit, allow_credit_forfeit=query.allow_credit_forfeit):
        shown = msgspec.structs.asdict(terms) | {
            "late_fee_amount": format_money(terms.late_fee_amount),
            "credit_forfeited": terms.credits_forfeited > 0,
        }
        raise CancellationTermsChanged(details=shown)


async def preview_cancellation(service: Bookings, caller: Caller, booking_id: str) -> CancellationReceipt:
    async with service.db.connection() as conn:
        booking = await bookings.read(conn, caller, booking_id)
        class_ = await locks.read_class(conn, caller, booking.class_id) if booking else None
        if booking is None or class_ is None:
            raise NotFound
        policy = await studios.policy(conn, caller)
        terms = await terms_of(conn, caller, booking, class_, policy)
    row = ReceiptRow(
        id="", booking_id=booking.id, cancelled_at=class_.now, reason=None, **msgspec.structs.asdict(terms)
    )
    return build_receipt(row, booking)
