"""How dates change a membership: it begins, a pause ends, a cancellation takes effect, a term runs out."""

from datetime import datetime

from services.bookings.rules.booking_facts import MembershipFacts
from services.bookings.wire.memberships import MembershipStatus

OVER = frozenset({MembershipStatus.CANCELLED, MembershipStatus.EXPIRED})


def status_at(membership: MembershipFacts, now: datetime) -> MembershipStatus:
    """The status at `now`, stored or not. A date takes effect at its first instant."""
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


def covers(membership: MembershipFacts, start: datetime) -> bool:
    """Includes the start, excludes the end; a membership without an end covers everything after its start."""
    begun = membership.starts_at is None or membership.starts_at <= start
    return begun and not _reached(membership.ends_at, start) and not _reached(membership.effective_at, start)


def _reached(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now
