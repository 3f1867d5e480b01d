"""The rules where a moment or their order decides. What they lead to is in the tests of the routes."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from services.bookings.rules.booking_decision import (
    Refusal,
    WaitlistPlace,
    check_bookable,
    decide_booking,
    run_checks,
)
from services.bookings.rules.booking_facts import (
    BookingFacts,
    ClassFacts,
    LiveBooking,
    MemberFacts,
    MembershipFacts,
)
from services.bookings.rules.cancellation import (
    BookingToCancel,
    Policy,
    free_cancel_until,
    may_cancel,
    terms_for_member,
)
from services.bookings.rules.eligibility import check_eligibility
from services.bookings.wire.bookings import BookingStatus
from services.bookings.wire.classes import ClassStatus, SpotMode
from services.bookings.wire.members import MembershipStatus

NOW = datetime(2026, 3, 8, 12, tzinfo=UTC)
START = datetime(2026, 3, 10, 12, tzinfo=UTC)
SECOND, MICRO = timedelta(seconds=1), timedelta(microseconds=1)
LIVE = LiveBooking(id="b", status=BookingStatus.CONFIRMED)
QUEUED = LiveBooking(id="b", status=BookingStatus.WAITLISTED)
ORDER = [
    "class_not_bookable", "already_booked", "already_waitlisted", "member_not_eligible", "spot_required",
    "spot_taken", "class_full", "waitlist_not_allowed", "waitlist_full",
]  # fmt: skip


def a_class(**fields: Any) -> ClassFacts:
    """In which a booking goes through."""
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


def a_membership(status: str = "active", **dates: datetime) -> MembershipFacts:
    known = {"starts_at": None, "ends_at": None, "resumes_at": None, "effective_at": None} | dates
    return MembershipFacts(status=MembershipStatus(status), auto_renew=True, **known)


def booking_facts(class_: ClassFacts, live: LiveBooking | None = None) -> BookingFacts:
    return BookingFacts(now=NOW, class_=class_, member=a_member(), live=live, spots=[])


def to_cancel(start_time: datetime, **fields: Any) -> BookingToCancel:
    booking = BookingToCancel(
        status=BookingStatus.CONFIRMED, start_time=start_time, credits_charged=1, promoted_at=None
    )
    return msgspec.structs.replace(booking, **fields)


def test_a_seat_that_a_waiting_member_could_have_is_not_given_to_a_newcomer() -> None:
    """Its promotion may not be written yet."""
    facts = booking_facts(a_class(booked_count=1, waitlist_count=1))
    assert decide_booking(facts, join_waitlist=True, spot_id=None) == WaitlistPlace(2)
    refused = decide_booking(facts, join_waitlist=False, spot_id=None)
    assert isinstance(refused, Refusal) and refused.check.code == "class_full"


def test_a_preview_names_every_check_in_the_order_of_precedence() -> None:
    """If several checks fail, the first decides; all are reported."""
    class_ = a_class(visible=False, booked_count=2, credit_cost=1, spot_selection_mode=SpotMode.REQUIRED)
    checks = run_checks(booking_facts(class_, LIVE), join_waitlist=False, spot_id=None)
    assert [check.code for check in checks] == ORDER
    failed = [check.code for check in checks if not check.passed]
    assert failed == [
        "class_not_bookable",
        "already_booked",
        "member_not_eligible",
        "spot_required",
        "class_full",
    ]
    queued = run_checks(booking_facts(a_class(), QUEUED), join_waitlist=False, spot_id=None)
    assert [check.code for check in queued if not check.passed] == ["already_waitlisted"]


@pytest.mark.parametrize(
    ("cards", "reasons"),
    [
        ([a_membership("past_due"), a_membership("paused")], ["membership_paused", "membership_past_due"]),
        ([a_membership("paused"), a_membership()], []),
        ([a_membership(starts_at=START)], []),
        ([a_membership(starts_at=START + SECOND)], ["no_membership_or_credits"]),
        ([a_membership(ends_at=START)], ["no_membership_or_credits"]),
        ([a_membership(ends_at=START + SECOND)], []),
        ([a_membership("paused", ends_at=START)], ["no_membership_or_credits"]),
        # Time decides, whatever status is stored.
        ([a_membership("paused", resumes_at=NOW)], []),
        ([a_membership("paused", resumes_at=NOW + SECOND)], ["membership_paused"]),
        ([a_membership(effective_at=START)], ["no_membership_or_credits"]),
        ([a_membership(effective_at=START + SECOND)], []),
    ],
)
def test_a_membership_covers_a_start(cards: list[MembershipFacts], reasons: list[str]) -> None:
    """From its own start to before its end; what is missing is named."""
    assert list(check_eligibility(a_class(credit_cost=2), a_member(*cards), NOW).reasons) == reasons


# The day of each change, and what the wall clock shows twelve true hours before ten in the morning.
CHANGES = [
    ("America/New_York", (2026, 3, 8), 21),
    ("America/New_York", (2026, 11, 1), 23),
    ("Europe/Berlin", (2026, 3, 29), 21),
    ("Europe/Berlin", (2026, 10, 25), 23),
    ("Australia/Sydney", (2026, 10, 4), 21),
    ("Australia/Sydney", (2026, 4, 5), 23),
]
POLICY = Policy(late_fee_amount=Decimal(15), late_fee_currency="USD", forfeit_credit=True)


@pytest.mark.parametrize(("zone", "day", "shown"), CHANGES)
def test_the_late_window_is_twelve_true_hours_across_a_clock_change(
    zone: str, day: tuple[int, int, int], shown: int
) -> None:
    """A class at 10:00 on the day of the change: by the wall clock the deadline is 11 or 13 hours earlier."""
    start = datetime(*day, 10, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    booking = to_cancel(start)
    deadline = free_cancel_until(booking, POLICY)
    assert start - deadline == timedelta(hours=12)
    assert deadline.astimezone(ZoneInfo(zone)).hour == shown
    assert not terms_for_member(booking, POLICY, deadline).late_cancel
    assert terms_for_member(booking, POLICY, deadline + MICRO).late_cancel
    # Who was promoted at the deadline could still cancel free.
    assert terms_for_member(to_cancel(start, promoted_at=deadline), POLICY, start).late_cancel
    assert not terms_for_member(to_cancel(start, promoted_at=deadline + MICRO), POLICY, start).late_cancel


def test_a_class_has_started_at_its_start() -> None:
    """Until the last microsecond before, it can be booked, and a booking cancelled."""
    assert check_bookable(a_class(), START - MICRO).passed
    assert check_bookable(a_class(), START).details == {"reason": "started"}
    assert may_cancel(to_cancel(START), START - MICRO)
    assert not may_cancel(to_cancel(START), START)
