"""Which state may follow which."""

from services.bookings.wire.bookings import BookingStatus as B
from services.bookings.wire.memberships import MembershipStatus as M

BOOKING: dict[B, frozenset[B]] = {
    B.WAITLISTED: frozenset({B.CONFIRMED, B.CANCELLED, B.EXPIRED}),
    B.CONFIRMED: frozenset({B.CHECKED_IN, B.NO_SHOW, B.CANCELLED}),
    B.CHECKED_IN: frozenset({B.CONFIRMED}),
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
"""What `booked_count` counts."""

LIVE = frozenset({B.CONFIRMED, B.CHECKED_IN, B.WAITLISTED})
"""A member has at most one of these per class."""


def staff_may_move(before: B, after: B) -> bool:
    """Check in, undo, no-show. Promotion, cancelling and expiry have operations of their own."""
    own_operation = before is B.WAITLISTED or after is B.CANCELLED
    return not own_operation and after in BOOKING[before]


def seat_change(before: B, after: B) -> int:
    return (after in SEATED) - (before in SEATED)


def staff_moves(before: B) -> list[str]:
    return [after for after in BOOKING[before] if staff_may_move(before, after)]
