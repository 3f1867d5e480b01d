"""What time does to a membership: it begins, a pause ends, a cancellation takes effect, a term runs out."""

from datetime import datetime

from services.bookings.rules.booking_facts import MembershipFacts
from services.bookings.wire.memberships import MembershipStatus

OVER = frozenset({MembershipStatus.CANCELLED, MembershipStatus.EXPIRED})


def status_at(membership: MembershipFacts, now: datetime) -> MembershipStatus:
    """The status that holds now, whether or not it is stored yet. The first instant counts."""
    status = membership.status
    if status in OVER:
        return status
    if _reached(membership.effective_at, now):
        return MembershipStatus.CANCELLED
    begins = status is MembershipStatus.PENDING and _reached(membership.starts_at, now)
    resumes = status is MembershipStatus.PAUSED and _reached(membership.resumes_at, now)
    if begins or resumes:
        status = MembershipStatus.ACTIVE
    runs_out = status is MembershipStatus.ACTIVE and not membership.auto_renew
    return MembershipStatus.EXPIRED if runs_out and _reached(membership.ends_at, now) else status


def holds(membership: MembershipFacts, start: datetime) -> bool:
    """The first instant counts, the last one does not; an open end holds everything."""
    begun = membership.starts_at is None or membership.starts_at <= start
    return begun and not _reached(membership.ends_at, start) and not _reached(membership.effective_at, start)


def _reached(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now
