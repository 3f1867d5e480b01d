"""The allowed state transitions."""

from datetime import datetime

from services.bookings.rules.booking_facts import ClassFacts
from services.bookings.wire.bookings import BookingStatus as B
from services.bookings.wire.classes import ClassStatus
from services.bookings.wire.memberships import MembershipStatus as M

BOOKING: dict[B, frozenset[B]] = {
    B.WAITLISTED: frozenset({B.CONFIRMED, B.CANCELLED, B.EXPIRED}),
    B.CONFIRMED: frozenset({B.CHECKED_IN, B.NO_SHOW, B.CANCELLED}),
    # CANCELLED only when the studio cancels the whole class.
    B.CHECKED_IN: frozenset({B.CONFIRMED, B.CANCELLED}),
    B.NO_SHOW: frozenset({B.CHECKED_IN}),
    B.CANCELLED: frozenset(),
    B.EXPIRED: frozenset(),
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

LIVE = frozenset({B.CONFIRMED, B.CHECKED_IN, B.WAITLISTED})
"""A member has at most one of these per class."""


def staff_moves(before: B, class_: ClassFacts, now: datetime) -> list[B]:
    """Check-in, undo, no-show. Promotion, cancellation and expiry are separate operations."""
    if before is B.WAITLISTED or class_.status is ClassStatus.CANCELLED:
        return []
    too_early = {B.NO_SHOW} if now < class_.start_time else set()
    return sorted(BOOKING[before] - {B.CANCELLED} - too_early)


def seat_change(before: B, after: B) -> int:
    return (after in SEATED) - (before in SEATED)
