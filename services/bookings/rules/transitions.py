"""The allowed state transitions, and who is promoted when seats are free."""

from datetime import datetime

from msgspec import Struct

from services.bookings.rules.booking_decision import assign_spot
from services.bookings.rules.booking_facts import ClassFacts, MemberFacts, SpotFacts
from services.bookings.rules.eligibility import check_eligibility
from services.bookings.wire.bookings import BookingStatus as B
from services.bookings.wire.classes import ClassStatus
from services.bookings.wire.members import MembershipStatus as M

BOOKING: dict[B, frozenset[B]] = {
    B.HELD: frozenset({B.CONFIRMED, B.CANCELLED, B.EXPIRED}),
    B.WAITLISTED: frozenset({B.CONFIRMED, B.CANCELLED, B.EXPIRED}),
    B.CONFIRMED: frozenset({B.CHECKED_IN, B.NO_SHOW, B.CANCELLED}),
    # CANCELLED only when the studio cancels the whole class.
    B.CHECKED_IN: frozenset({B.CONFIRMED, B.CANCELLED}),
    B.NO_SHOW: frozenset({B.CHECKED_IN}),
    B.CANCELLED: frozenset(),
    # Only a hold comes back, by a late confirm.
    B.EXPIRED: frozenset({B.CONFIRMED}),
}

MEMBERSHIP: dict[M, frozenset[M]] = {
    M.PENDING: frozenset({M.ACTIVE, M.CANCELLED}),
    M.ACTIVE: frozenset({M.PAUSED, M.PAST_DUE, M.CANCELLED, M.EXPIRED}),
    M.PAUSED: frozenset({M.ACTIVE, M.CANCELLED}),
    M.PAST_DUE: frozenset({M.ACTIVE, M.CANCELLED}),
    M.CANCELLED: frozenset(),
    M.EXPIRED: frozenset(),
}

SEATED = frozenset({B.CONFIRMED, B.CHECKED_IN})
"""Counted in `booked_count`."""

WITH_SEAT = SEATED | {B.HELD}
"""Nobody else gets their seat, nor their spot."""

LIVE = WITH_SEAT | {B.WAITLISTED}
"""A member has at most one of these per class."""


def staff_moves(before: B, class_: ClassFacts, now: datetime) -> list[B]:
    """Check-in, undo, no-show. Promotion, cancellation and expiry are separate operations."""
    if before in (B.WAITLISTED, B.HELD, B.EXPIRED) or class_.status is ClassStatus.CANCELLED:
        return []
    too_early = {B.NO_SHOW} if now < class_.start_time else set()
    return sorted(BOOKING[before] - {B.CANCELLED} - too_early)


def seat_change(before: B, after: B) -> int:
    return (after in SEATED) - (before in SEATED)


def hold_change(before: B, after: B) -> int:
    return (after is B.HELD) - (before is B.HELD)


class Waiting(Struct, frozen=True, kw_only=True):
    entry_id: str
    member: MemberFacts


class Promoted(Struct, frozen=True):
    entry_id: str
    credits_charged: int
    spot_id: str | None


class Promotion(Struct, frozen=True):
    promoted: tuple[Promoted, ...] = ()
    skipped: tuple[str, ...] = ()


def decide_promotion(
    class_: ClassFacts, waiting: list[Waiting], spots: list[SpotFacts], now: datetime
) -> Promotion:
    """`waiting` is in order. One promotion per free seat; members who are no longer eligible are skipped."""
    if class_.status is not ClassStatus.SCHEDULED or class_.start_time <= now:
        return Promotion()
    promoted: list[Promoted] = []
    skipped: list[str] = []
    free = list(spots)
    for candidate in waiting:
        if len(promoted) >= class_.seats_left:
            break
        eligibility = check_eligibility(class_, candidate.member, now)
        if not eligibility.ok:
            skipped.append(candidate.entry_id)
            continue
        spot_id = assign_spot(class_.spot_selection_mode, free, wished=None)
        free = [spot for spot in free if spot.id != spot_id]
        promoted.append(Promoted(candidate.entry_id, eligibility.credits_charged, spot_id))
    return Promotion(tuple(promoted), tuple(skipped))
