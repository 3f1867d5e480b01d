"""Whether a member may take a seat, and what it costs; how dates change the memberships that cover it."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from services.bookings.rules.booking_facts import ClassFacts, MemberFacts, MembershipFacts
from services.bookings.wire.members import MembershipStatus
from services.bookings.wire.members import MembershipStatus as M

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


def membership_for(member: MemberFacts, start: datetime, now: datetime) -> MembershipStatus | None:
    """The word of the desk: how the membership stands that covers a class, the best one first."""
    holding = {status_at(m, now) for m in member.memberships if covers(m, start)}
    order = (M.ACTIVE, M.PAST_DUE, M.PAUSED, M.PENDING)
    return next((status for status in order if status in holding), None)


class Ineligible(StrEnum):
    NO_MEMBERSHIP_OR_CREDITS = "no_membership_or_credits"
    MEMBERSHIP_PAUSED = "membership_paused"
    MEMBERSHIP_PAST_DUE = "membership_past_due"
    MEMBER_SUSPENDED = "member_suspended"


class Eligibility(Struct, frozen=True):
    reasons: tuple[Ineligible, ...] = ()
    credits_charged: int = 0

    @property
    def ok(self) -> bool:
        return not self.reasons


def check_eligibility(class_: ClassFacts, member: MemberFacts, now: datetime) -> Eligibility:
    """A membership that covers the class's start is used first, credits otherwise."""
    suspended = (Ineligible.MEMBER_SUSPENDED,) if member.suspended else ()
    if class_.credit_cost == 0:
        return Eligibility(suspended)
    holding = {status_at(m, now) for m in member.memberships if covers(m, class_.start_time)}
    if MembershipStatus.ACTIVE in holding:
        return Eligibility(suspended)
    if member.credits >= class_.credit_cost:
        return Eligibility(suspended, class_.credit_cost)
    return Eligibility(suspended + _uncovered_reasons(holding))


def _uncovered_reasons(holding: set[MembershipStatus]) -> tuple[Ineligible, ...]:
    why = {
        MembershipStatus.PAUSED: Ineligible.MEMBERSHIP_PAUSED,
        MembershipStatus.PAST_DUE: Ineligible.MEMBERSHIP_PAST_DUE,
    }
    found = tuple(reason for status, reason in why.items() if status in holding)
    return found or (Ineligible.NO_MEMBERSHIP_OR_CREDITS,)
