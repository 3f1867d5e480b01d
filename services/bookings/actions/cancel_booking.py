"""Cancel a booking under the policy of now, and hand its seat on in the same transaction."""

from decimal import Decimal

import msgspec

from services.bookings.actions.idempotently import Keyed, Refused, refused, replay
from services.bookings.actions.promote import promote
from services.bookings.actions.roster import Roster
from services.bookings.actions.telling import receipt_of
from services.bookings.context import Bookings, Stage
from services.bookings.errors import BookingAlreadyCancelled, BookingNotCancellable, CancellationTermsChanged
from services.bookings.rules.cancellation import Policy, Terms, may_cancel, terms_accepted, terms_for_member
from services.bookings.store import bookings, cancellations, idempotency, locks, studios
from services.bookings.store.locks import LockedClass
from services.bookings.store.roster_write import ReceiptRow
from services.bookings.store.rows import BookingRow
from services.bookings.wire.bookings import BookingStatus, CancellationReceipt, CancelQuery
from services.bookings.wire.text import money_text
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.answer import Answer
from shared.http.caller import Caller
from shared.wire import encode


async def cancel_booking(
    service: Bookings, caller: Caller, request: Keyed, booking_id: str, query: CancelQuery
) -> Answer:
    async with service.db.transaction() as conn:
        claim = await idempotency.claim(conn, caller, request.key)
        if claim.state == "busy":
            await idempotency.wait_for_key(conn, caller, request.key)
            claim = await idempotency.claim(conn, caller, request.key)
        if claim.state == "stored":
            return replay(request, claim, caller)
        service.reached(Stage.CLAIMED)
        found = await bookings.read(conn, caller, booking_id)
        class_id = found.class_id if found else None
        try:
            receipt = await _cancel(conn, service, caller, found, query)
        except Refused as problem:
            answer = refused(problem, caller)
            kept = request.kept(answer, resource_id=found.id if found else None, class_id=class_id)
            await idempotency.keep(conn, caller, kept)
            return answer
        answer = Answer(encode(receipt))
        kept = request.kept(answer, resource_id=booking_id, class_id=class_id)
        await idempotency.keep(conn, caller, kept)
        service.reached(Stage.WRITTEN)
    service.reached(Stage.COMMITTED)
    service.wakeup.notify()
    return answer


async def _cancel(
    conn: Connection, service: Bookings, caller: Caller, found: BookingRow | None, query: CancelQuery
) -> CancellationReceipt:
    roster = await Roster.open(conn, caller, found.class_id) if found else None
    booking = await bookings.read(conn, caller, found.id) if found else None
    if roster is None or booking is None:
        raise NotFound
    policy = await studios.policy(conn, caller)
    terms = await _terms(conn, caller, booking, LockedClass(roster.class_, roster.now), policy)
    _refuse_worse_terms(terms, query)
    service.reached(Stage.DECIDED)
    await roster.load_waiting(conn)
    booking = roster.bookings.setdefault(booking.id, booking)
    receipt = roster.cancel(booking, terms, query.reason)
    await promote(conn, roster, policy, credited=booking.member_id if terms.credits_restored else None)
    await roster.save(conn)
    return receipt


async def preview_cancellation(service: Bookings, caller: Caller, booking_id: str) -> CancellationReceipt:
    """The receipt as it would be now; nothing is locked and nothing happens."""
    async with service.db.connection() as conn:
        booking = await bookings.read(conn, caller, booking_id)
        class_ = await locks.look_at_class(conn, caller, booking.class_id) if booking else None
        if booking is None or class_ is None:
            raise NotFound
        policy = await studios.policy(conn, caller)
        terms = await _terms(conn, caller, booking, class_, policy)
    row = ReceiptRow(
        id="", booking_id=booking.id, cancelled_at=class_.now, reason=None, **msgspec.structs.asdict(terms)
    )
    return receipt_of(row, booking)


async def _terms(
    conn: Connection, caller: Caller, booking: BookingRow, locked: LockedClass, policy: Policy
) -> Terms:
    if booking.status is BookingStatus.CANCELLED:
        receipt = await cancellations.read(conn, caller, booking.id)
        raise BookingAlreadyCancelled(details={"receipt": receipt})
    held = booking.held(locked.class_.start_time)
    if not may_cancel(held, locked.now):
        raise BookingNotCancellable(details={"status": booking.status})
    return terms_for_member(held, policy, locked.now)


def _refuse_worse_terms(terms: Terms, query: CancelQuery) -> None:
    limit = None if query.max_late_fee is None else Decimal(query.max_late_fee)
    if not terms_accepted(terms, max_late_fee=limit, allow_credit_forfeit=query.allow_credit_forfeit):
        shown = msgspec.structs.asdict(terms) | {
            "late_fee_amount": money_text(terms.late_fee_amount),
            "credit_forfeited": terms.credits_forfeited > 0,
        }
        raise CancellationTermsChanged(details=shown)
