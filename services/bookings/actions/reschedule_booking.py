"""Move a booking to another class in one transaction: it keeps its id, and has a seat at every moment."""

from datetime import datetime

import msgspec
from msgspec import Struct

from services.bookings.actions.class_changes import promote_locked
from services.bookings.actions.decide_bookings import require_facts
from services.bookings.actions.lock_by_booking import begins_anew, lock_for_move, read_with_class
from services.bookings.context import Bookings
from services.bookings.errors import CancellationTermsChanged, refusal
from services.bookings.rules.booking_decision import Check, knows_spot
from services.bookings.rules.booking_facts import BookingFacts
from services.bookings.rules.cancellation import Policy
from services.bookings.rules.rescheduling import Move, decide_move, run_move_checks
from services.bookings.store import bookings, claim_and_lock, classes, reschedules, studios
from services.bookings.store.bookings import BookingRow
from services.bookings.wire.bookings import (
    BookingMove,
    BookingReschedule,
    PreviewCheck,
    ReschedulePreview,
)
from shared.db.database import Connection
from shared.errors import Conflict, NotFound
from shared.http.caller import Caller

COSTS_MORE = "Moving would cost more than was accepted; nothing was changed."


@begins_anew
async def reschedule_booking(
    service: Bookings, caller: Caller, booking_id: str, body: BookingMove
) -> BookingReschedule:
    async with service.db.transaction() as conn:
        result = await _reschedule(conn, caller, booking_id, body)
    service.wakeup.notify()
    return result


async def _reschedule(
    conn: Connection, caller: Caller, booking_id: str, body: BookingMove
) -> BookingReschedule:
    old, new, booking = await lock_for_move(conn, caller, booking_id, body.class_id)
    for changes in (old, new):
        await changes.load_waitlist(conn)
    policy = await studios.policy(conn, caller)
    # The members of both classes in one statement: all who may be promoted, and the one who moves.
    waiting = {entry.member_id for entry in old.waiting}
    await old.lock_members(conn, waiting | new.candidates() | {booking.member_id})
    new.members = old.members
    # Seats of holds that have run out there belong to the waitlist first.
    await promote_locked(conn, new, policy)
    facts = await new.booking_facts(conn, booking.member_id)
    if not knows_spot(facts, body.class_spot_id):
        raise NotFound(param="class_spot_id")
    seat = decide_move(_move(booking, old.class_.start_time, facts, policy), body)
    if isinstance(seat, Check):
        raise _refused(seat)
    moved = old.move_out(booking, seat, new)
    old.members = new.members_after()
    await promote_locked(conn, old, policy)
    await old.save_move(conn, new)
    return reschedules.to_wire(moved, booking.to_wire())


def _move(booking: BookingRow, old_start: datetime, facts: BookingFacts, policy: Policy) -> Move:
    leaves, left = booking.to_cancel(old_start), booking.class_id
    return Move(leaves=leaves, from_class_id=left, target=facts, policy=policy)


def _refused(check: Check) -> Conflict:
    if check.code == CancellationTermsChanged.code:
        return CancellationTermsChanged(COSTS_MORE, details=check.details)
    return refusal(check.code, check.details, check.param)


async def preview_reschedule(
    service: Bookings, caller: Caller, booking_id: str, body: BookingMove
) -> ReschedulePreview:
    async with service.db.connection() as conn:
        booking, class_ = await read_with_class(conn, caller, booking_id)
        policy = await studios.policy(conn, caller)
        stored = await claim_and_lock.read_facts(conn, caller, body.class_id, booking.member_id, None)
    facts = require_facts(stored, caller, body.class_spot_id)
    move = _move(booking, class_.class_.start_time, facts, policy)
    checks = run_move_checks(move, body)
    failed = next((check.code for check in checks if not check.passed), None)
    return ReschedulePreview(
        outcome="refused" if failed else "rescheduled",
        code=failed,
        checks=[PreviewCheck(code=one.code, passed=one.passed, details=one.details) for one in checks],
        terms=reschedules.terms_to_wire(move.terms) if move.terms else None,
    )


async def may_repeat_reschedule(
    service: Bookings, caller: Caller, booking_id: str, class_id: str, stored: bytes
) -> None:
    """Another API key of the same client may see fewer locations."""
    left = msgspec.json.decode(stored, type=_Left).from_class_id
    async with service.db.connection() as conn:
        if await bookings.read(conn, caller, booking_id) is None:
            raise NotFound
        for id_ in (class_id, left):
            if id_ is not None:
                await classes.get(conn, caller, id_)


class _Left(Struct):
    """Of a stored response, which may be a refusal."""

    from_class_id: str | None = None
