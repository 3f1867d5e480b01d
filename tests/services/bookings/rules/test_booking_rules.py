"""The decision on a booking, as a table."""

from datetime import timedelta
from typing import Any

import pytest

from services.bookings.rules.booking_decision import (
    Refusal,
    Seat,
    WaitlistPlace,
    assign_spot,
    decide_booking,
    run_checks,
)
from services.bookings.rules.booking_facts import LiveBooking, SpotFacts
from services.bookings.rules.eligibility import check_eligibility
from services.bookings.rules.transitions import Waiting, decide_promotion
from services.bookings.wire.bookings import BookingStatus
from services.bookings.wire.classes import ClassStatus, SpotMode
from tests.services.bookings.rules.examples import NOW, START, a_class, a_member, a_membership, booking_facts

SECOND = timedelta(seconds=1)
LIVE = LiveBooking(id="b", status=BookingStatus.CONFIRMED)
QUEUED = LiveBooking(id="b", status=BookingStatus.WAITLISTED)
FULL = {"booked_count": 2}
ORDER = [
    "class_not_bookable", "already_booked", "already_waitlisted", "member_not_eligible", "spot_required",
    "spot_taken", "class_full", "waitlist_not_allowed", "waitlist_full",
]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "join", "decision"),
    [
        ({}, False, Seat(0, None)),
        ({"booked_count": 1}, True, Seat(0, None)),
        (FULL, True, WaitlistPlace(1)),
        ({**FULL, "waitlist_count": 4}, True, WaitlistPlace(5)),
        ({"booked_count": 3}, True, WaitlistPlace(1)),
        ({"capacity": 0}, True, WaitlistPlace(1)),
        # A seat that a waiting member could have is not given to a newcomer.
        ({"booked_count": 1, "waitlist_count": 1}, True, WaitlistPlace(2)),
        ({"booked_count": 1, "waitlist_count": 1}, False, "class_full"),
        (FULL, False, "class_full"),
        ({**FULL, "allow_waitlist": False}, True, "waitlist_not_allowed"),
        ({**FULL, "allow_waitlist": False}, False, "class_full"),
        ({**FULL, "waitlist_capacity": 1, "waitlist_count": 1}, True, "waitlist_full"),
        ({**FULL, "waitlist_capacity": 2, "waitlist_count": 1}, True, WaitlistPlace(2)),
        ({**FULL, "waitlist_capacity": 0}, True, "waitlist_full"),
        ({"start_time": NOW}, False, "class_not_bookable"),
        ({"start_time": NOW + SECOND}, False, Seat(0, None)),
        ({"status": ClassStatus.CANCELLED}, False, "class_not_bookable"),
        ({"status": ClassStatus.COMPLETED}, False, "class_not_bookable"),
        ({"visible": False}, False, "class_not_bookable"),
    ],
)
def test_seats(fields: dict[str, Any], join: bool, decision: Any) -> None:
    """A seat, a place, or the refusal that comes first."""
    decided = decide_booking(booking_facts(a_class(**fields)), join_waitlist=join, spot_id=None)
    assert (decided.check.code if isinstance(decided, Refusal) else decided) == decision


def test_a_preview_names_every_check_in_the_order_of_precedence() -> None:
    """If several checks fail, the first decides; all are reported."""
    class_ = a_class(visible=False, booked_count=2, credit_cost=1, spot_selection_mode=SpotMode.REQUIRED)
    checks = run_checks(booking_facts(class_, live=LIVE), join_waitlist=False, spot_id=None)
    assert [check.code for check in checks] == ORDER
    failed = [check.code for check in checks if not check.passed]
    assert failed == [
        "class_not_bookable",
        "already_booked",
        "member_not_eligible",
        "spot_required",
        "class_full",
    ]
    queued = run_checks(booking_facts(live=QUEUED), join_waitlist=False, spot_id=None)
    assert [check.code for check in queued if not check.passed] == ["already_waitlisted"]


@pytest.mark.parametrize(
    ("cost", "cards", "fields", "reasons", "charged"),
    [
        (0, [], {}, [], 0),
        (0, [], {"suspended": True}, ["member_suspended"], 0),
        (2, [a_membership()], {"credits": 9}, [], 0),
        (2, [], {"credits": 2}, [], 2),
        (2, [], {"credits": 1}, ["no_membership_or_credits"], 0),
        (2, [a_membership("paused")], {}, ["membership_paused"], 0),
        (2, [a_membership("past_due")], {}, ["membership_past_due"], 0),
        (
            2,
            [a_membership("past_due"), a_membership("paused")],
            {},
            ["membership_paused", "membership_past_due"],
            0,
        ),
        (2, [a_membership("paused")], {"credits": 2}, [], 2),
        (2, [a_membership("paused"), a_membership()], {}, [], 0),
        (
            2,
            [a_membership("pending"), a_membership("cancelled"), a_membership("expired")],
            {},
            ["no_membership_or_credits"],
            0,
        ),
        (2, [a_membership(starts_at=START)], {}, [], 0),
        (2, [a_membership(starts_at=START + SECOND)], {}, ["no_membership_or_credits"], 0),
        (2, [a_membership(ends_at=START)], {}, ["no_membership_or_credits"], 0),
        (2, [a_membership(ends_at=START + SECOND)], {}, [], 0),
        (2, [a_membership("paused", ends_at=START)], {}, ["no_membership_or_credits"], 0),
        # Time decides, whatever status is stored.
        (2, [a_membership("paused", resumes_at=NOW)], {}, [], 0),
        (2, [a_membership("paused", resumes_at=NOW + SECOND)], {}, ["membership_paused"], 0),
        (2, [a_membership(effective_at=NOW)], {}, ["no_membership_or_credits"], 0),
        (2, [a_membership(effective_at=START)], {}, ["no_membership_or_credits"], 0),
        (2, [a_membership(effective_at=START + SECOND)], {}, [], 0),
        (2, [], {"suspended": True, "credits": 2}, ["member_suspended"], 2),
    ],
)
def test_eligibility(
    cost: int, cards: list[Any], fields: dict[str, Any], reasons: list[str], charged: int
) -> None:
    """A membership that covers the start, else credits; each missing one is named."""
    judged = check_eligibility(a_class(credit_cost=cost), a_member(*cards, **fields), NOW)
    assert (list(judged.reasons), judged.credits_charged) == (reasons, charged)


def test_spots_in_order() -> None:
    """The requested one, else the first free one, else none; none without spot selection."""
    spots = [SpotFacts(id="a", taken=True), SpotFacts(id="b", taken=False), SpotFacts(id="c", taken=False)]
    assert assign_spot(SpotMode.OPTIONAL, spots, wished=None) == "b"
    assert assign_spot(SpotMode.OPTIONAL, spots, wished="c") == "c"
    assert assign_spot(SpotMode.OPTIONAL, spots[:1], wished=None) is None
    assert assign_spot(None, spots, wished="c") is None
    assert assign_spot(SpotMode.NONE, spots, wished="c") is None


def test_joining_the_waitlist_needs_no_spot() -> None:
    """Otherwise no one could join the waitlist of a full class with `required` spots."""
    taken = [SpotFacts(id="a", taken=True)]
    facts = booking_facts(a_class(booked_count=2, spot_selection_mode=SpotMode.REQUIRED), spots=taken)
    assert decide_booking(facts, join_waitlist=True, spot_id=None) == WaitlistPlace(1)
    assert decide_booking(facts, join_waitlist=True, spot_id="a") == WaitlistPlace(1)
    refused = decide_booking(facts, join_waitlist=False, spot_id="a")
    assert isinstance(refused, Refusal) and refused.check.code == "spot_taken"


@pytest.mark.parametrize(
    ("seats", "credits", "promoted", "skipped"),
    [
        (0, [1, 1, 1], [], []),
        (1, [1, 1, 1], ["0"], []),
        (2, [1, 0, 1], ["0", "2"], ["1"]),
        (1, [0, 0, 1], ["2"], ["0", "1"]),
        (5, [0, 0, 0], [], ["0", "1", "2"]),
        (5, [1, 0, 0], ["0"], ["1", "2"]),
        (-1, [1], [], []),
    ],
)
def test_promotion(seats: int, credits: list[int], promoted: list[str], skipped: list[str]) -> None:
    """In order, one per seat. Only entries that would have got a seat are skipped."""
    class_ = a_class(capacity=2 + seats, booked_count=2, credit_cost=1)
    queue = [Waiting(entry_id=str(n), member=a_member(credits=held)) for n, held in enumerate(credits)]
    decided = decide_promotion(class_, queue, [], NOW)
    assert ([one.entry_id for one in decided.promoted], list(decided.skipped)) == (promoted, skipped)
    for ended in ({"start_time": NOW}, {"status": ClassStatus.CANCELLED}, {"status": ClassStatus.COMPLETED}):
        over = a_class(capacity=9, **ended)
        assert decide_promotion(over, queue, [], NOW).promoted == ()
