"""Late windows and expiry across both clock changes in three zones: elapsed hours, not wall-clock hours."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import msgspec
import pytest

from services.bookings.rules.booking_decision import check_bookable
from services.bookings.rules.cancellation import (
    Policy,
    free_cancel_until,
    may_cancel,
    terms_accepted,
    terms_by_studio,
    terms_for_member,
)
from services.bookings.rules.class_times import problem_with_times
from services.bookings.wire.bookings import BookingStatus
from tests.services.bookings.rules.examples import START, a_class, to_cancel

MICRO = timedelta(microseconds=1)
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
    start = datetime(*day, 10, tzinfo=ZoneInfo(zone))
    booking = to_cancel(start_time=start.astimezone(UTC), credits_charged=1)
    deadline = free_cancel_until(booking, POLICY)
    assert start.astimezone(UTC) - deadline == timedelta(hours=12)
    assert deadline.astimezone(ZoneInfo(zone)).hour == shown
    assert not terms_for_member(booking, POLICY, deadline).late_cancel
    assert terms_for_member(booking, POLICY, deadline + MICRO).late_cancel


@pytest.mark.parametrize(("zone", "day"), [(zone, day) for zone, day, _ in CHANGES])
def test_a_class_starts_at_its_instant_on_the_night_of_a_change(zone: str, day: tuple[int, int, int]) -> None:
    """The repeated hour is two different instants, and a class starts at one of them."""
    first = datetime(*day, 2, 30, tzinfo=ZoneInfo(zone), fold=0).astimezone(UTC)
    second = datetime(*day, 2, 30, tzinfo=ZoneInfo(zone), fold=1).astimezone(UTC)
    for start in {first, second}:
        assert check_bookable(a_class(start_time=start), start - MICRO).passed
        assert check_bookable(a_class(start_time=start), start).details == {"reason": "started"}
        assert may_cancel(to_cancel(start_time=start), start - MICRO)
        assert not may_cancel(to_cancel(start_time=start), start)


def test_terms() -> None:
    """Late: fee and forfeit as the policy says. In time, waiting, promoted late, or by the studio: free."""
    deadline = START - timedelta(hours=12)
    late = terms_for_member(to_cancel(credits_charged=2), POLICY, deadline + MICRO)
    assert (late.late_fee_amount, late.late_fee_status) == (Decimal(15), "assessed")
    assert (late.credits_forfeited, late.credits_restored) == (2, 0)
    kind = msgspec.structs.replace(POLICY, late_fee_amount=None, forfeit_credit=False)
    mild = terms_for_member(to_cancel(credits_charged=2), kind, deadline + MICRO)
    assert (mild.late_cancel, mild.late_fee_status, mild.credits_restored) == (True, "none", 2)
    for free in (to_cancel(status=BookingStatus.WAITLISTED), to_cancel(promoted_at=deadline + MICRO)):
        terms = terms_for_member(free, POLICY, START - MICRO)
        assert (terms.late_cancel, terms.free_cancel_until) == (False, START)
    early = to_cancel(promoted_at=deadline)
    assert terms_for_member(early, POLICY, deadline + MICRO).late_cancel
    studio = terms_by_studio(to_cancel(credits_charged=2), POLICY, START)
    assert (studio.late_cancel, studio.late_fee_status, studio.credits_restored) == (False, "waived", 2)
    assert terms_by_studio(to_cancel(), POLICY, deadline).late_fee_status == "none"


@pytest.mark.parametrize(
    ("limit", "forfeit", "accepted"),
    [
        (None, None, True),
        (Decimal("15.00"), None, True),
        (Decimal("14.99"), None, False),
        (None, False, False),
        (None, True, True),
        (Decimal(0), True, False),
        (Decimal(99), False, False),
    ],
)
def test_terms_are_accepted_or_not(limit: Decimal | None, forfeit: bool | None, accepted: bool) -> None:
    """What is not limited is accepted."""
    terms = terms_for_member(to_cancel(credits_charged=1), POLICY, START - MICRO)
    assert terms_accepted(terms, max_late_fee=limit, allow_credit_forfeit=forfeit) is accepted


@pytest.mark.parametrize("status", list(BookingStatus))
def test_only_live_bookings_can_be_cancelled(status: BookingStatus) -> None:
    """Held, confirmed and waitlisted, before the start."""
    live = status in (BookingStatus.HELD, BookingStatus.CONFIRMED, BookingStatus.WAITLISTED)
    assert may_cancel(to_cancel(status=status), START - MICRO) is live


def test_class_times() -> None:
    """The end is after the start, within the supported years."""
    hour = timedelta(hours=1)
    assert problem_with_times(START, START + hour) is None
    assert problem_with_times(START, START) is not None
    assert problem_with_times(datetime(1, 1, 1, tzinfo=UTC), START) is not None
    assert problem_with_times(START, datetime(9999, 1, 1, tzinfo=UTC)) is not None
