"""Facts for the rule tests: by default, a booking goes through."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from services.bookings.rules.booking_facts import BookingFacts, ClassFacts, MemberFacts, MembershipFacts
from services.bookings.rules.cancellation import BookingToCancel
from services.bookings.wire.bookings import BookingStatus
from services.bookings.wire.classes import ClassStatus
from services.bookings.wire.members import MembershipStatus

NOW = datetime(2026, 3, 8, 12, tzinfo=UTC)
START = datetime(2026, 3, 10, 12, tzinfo=UTC)


def a_class(**fields: Any) -> ClassFacts:
    class_ = ClassFacts(
        id="c",
        location_id=None,
        start_time=START,
        status=ClassStatus.SCHEDULED,
        visible=True,
        capacity=2,
        booked_count=0,
        waitlist_count=0,
        allow_waitlist=True,
        waitlist_capacity=None,
        credit_cost=0,
        spot_selection_mode=None,
        version=1,
    )
    return msgspec.structs.replace(class_, **fields)


def a_member(*memberships: MembershipFacts, **fields: Any) -> MemberFacts:
    member = MemberFacts(id="m", suspended=False, credits=0, memberships=list(memberships))
    return msgspec.structs.replace(member, **fields)


def a_membership(
    status: str = "active", *, auto_renew: bool = True, **dates: datetime | None
) -> MembershipFacts:
    known = {"starts_at": None, "ends_at": None, "resumes_at": None, "effective_at": None} | dates
    return MembershipFacts(status=MembershipStatus(status), auto_renew=auto_renew, **known)


def booking_facts(
    class_: ClassFacts | None = None, member: MemberFacts | None = None, **more: Any
) -> BookingFacts:
    facts = BookingFacts(
        now=NOW, class_=class_ or a_class(), member=member or a_member(), live=None, spots=[]
    )
    return msgspec.structs.replace(facts, **more)


def to_cancel(**fields: Any) -> BookingToCancel:
    booking = BookingToCancel(
        status=BookingStatus.CONFIRMED, start_time=START, credits_charged=0, promoted_at=None
    )
    return msgspec.structs.replace(booking, **fields)
