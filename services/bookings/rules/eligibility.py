"""Whether a member may take a seat, and what it costs."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from services.bookings.rules.booking_facts import ClassFacts, MemberFacts
from services.bookings.rules.membership_dates import covers, status_at
from services.bookings.wire.memberships import MembershipStatus


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
