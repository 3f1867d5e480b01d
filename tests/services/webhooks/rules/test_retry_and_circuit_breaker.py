"""The schedule, its jitter, Retry-After, and the breaker: pure decisions."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.webhooks.rules.retry import (
    MAX_PAUSE,
    THRESHOLD,
    Breaker,
    Outcome,
    after_attempt,
    next_attempt,
    parse_retry_after,
    pause_seconds,
)
from shared.settings import DEFAULT_RETRY_SCHEDULE

NOW = datetime(2026, 8, 2, 12, tzinfo=UTC)
FAILED = Outcome(500, "x")


@given(step=st.integers(0, len(DEFAULT_RETRY_SCHEDULE) - 1), random_fraction=st.floats(0, 0.999999))
def test_a_retry_comes_within_ten_percent_of_the_schedule(step: int, random_fraction: float) -> None:
    """5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, each ±10 %."""
    plan = next_attempt(FAILED, step, DEFAULT_RETRY_SCHEDULE, random_fraction)
    assert plan.status == "pending"
    assert plan.step == step + 1
    assert plan.wait is not None
    assert 0.9 * DEFAULT_RETRY_SCHEDULE[step] <= plan.wait <= 1.1 * DEFAULT_RETRY_SCHEDULE[step] + 0.001


def test_after_the_last_wait_the_delivery_is_dead() -> None:
    """Nine waits, so ten attempts."""
    assert next_attempt(FAILED, 9, DEFAULT_RETRY_SCHEDULE, 0.5).status == "dead"
    assert next_attempt(Outcome(410, "x"), 0, DEFAULT_RETRY_SCHEDULE, 0.5).status == "dead"
    assert next_attempt(Outcome(204, None), 3, DEFAULT_RETRY_SCHEDULE, 0.5).status == "succeeded"


@pytest.mark.parametrize(
    ("retry_after", "schedule", "expected"),
    [(10.0, 100.0, 100.0), (3600.0, 5.0, 3600.0), (10_000_000.0, 5.0, 86_400.0)],
)
def test_retry_after_only_ever_lengthens_the_wait_up_to_a_day(
    retry_after: float, schedule: float, expected: float
) -> None:
    """A receiver may ask for a longer wait, not for a shorter one, and for a day at most."""
    assert next_attempt(Outcome(503, "x", retry_after), 0, (schedule,), 0.5).wait == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("Sun, 02 Aug 2026 12:01:00 GMT", 60.0),
        ("Sun, 02 Aug 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1e9", None),
        ("²", None),
        (None, None),
    ],
)
def test_retry_after_is_read_in_both_forms(text: str | None, seconds: float | None) -> None:
    """Seconds or a date; nonsense counts as nothing."""
    assert parse_retry_after(text, NOW) == seconds


def test_the_breaker_opens_after_consecutive_failures_and_waits_longer_each_time() -> None:
    """Then it is half-open: one failed attempt reopens it at once, a success closes it.

    Attempts that were in flight when it opened may fail after it, which makes the pause no longer.
    """
    breaker = Breaker()
    for _ in range(THRESHOLD):
        assert not breaker.is_paused(NOW)
        breaker = after_attempt(breaker, FAILED, DEFAULT_RETRY_SCHEDULE, NOW)
    assert breaker.is_paused(NOW)
    assert breaker.window == 1
    straggler = after_attempt(breaker, FAILED, DEFAULT_RETRY_SCHEDULE, NOW)
    assert straggler.paused_until == breaker.paused_until
    later = NOW + timedelta(seconds=6)
    assert not breaker.is_paused(later)
    again = after_attempt(breaker, FAILED, DEFAULT_RETRY_SCHEDULE, later)
    assert again.paused_until == later + timedelta(seconds=10)
    closed = after_attempt(breaker, Outcome(200, None), DEFAULT_RETRY_SCHEDULE, later)
    assert (closed.failures, closed.pauses, closed.failing_since) == (0, 0, None)


def test_an_event_that_is_refused_does_not_open_the_breaker() -> None:
    """4xx: the receiver is up and refuses the event. It still counts as a failure of the endpoint."""
    breaker = Breaker()
    for _ in range(50):
        breaker = after_attempt(breaker, Outcome(422, "x"), DEFAULT_RETRY_SCHEDULE, NOW)
    assert not breaker.is_paused(NOW)
    assert breaker.failing_since == NOW
    assert breaker.has_failed_too_long(NOW + timedelta(days=5))
    assert not breaker.has_failed_too_long(NOW + timedelta(days=4, hours=23))


def test_failures_far_apart_are_not_consecutive() -> None:
    """Five days of failures have attempts in between, no further apart than the longest wait."""
    breaker = after_attempt(Breaker(), FAILED, DEFAULT_RETRY_SCHEDULE, NOW)
    silent = after_attempt(breaker, FAILED, DEFAULT_RETRY_SCHEDULE, NOW + timedelta(days=6))
    assert not silent.has_failed_too_long(NOW + timedelta(days=6))
    for day in range(1, 6):
        breaker = after_attempt(breaker, FAILED, DEFAULT_RETRY_SCHEDULE, NOW + timedelta(days=day))
    assert breaker.has_failed_too_long(NOW + timedelta(days=5))


@pytest.mark.parametrize(
    ("status", "retry_after", "held"), [(429, 600, 600), (503, 10_000_000, 86_400), (500, 600, 0)]
)
def test_retry_after_holds_the_whole_lane(status: int, retry_after: float, held: float) -> None:
    """429 and 503 with Retry-After are about the receiver, not about one event; a day at most."""
    breaker = after_attempt(Breaker(), Outcome(status, "x", retry_after), DEFAULT_RETRY_SCHEDULE, NOW)
    assert breaker.is_paused(NOW) == (held > 0)
    assert (breaker.paused_until or NOW) - NOW == timedelta(seconds=held)
    straggler = after_attempt(breaker, FAILED, DEFAULT_RETRY_SCHEDULE, NOW)
    assert straggler.paused_until == breaker.paused_until


@given(pauses=st.integers(0, 1000), schedule=st.lists(st.floats(0.01, 1e6), max_size=9))
def test_a_pause_is_never_longer_than_five_minutes(pauses: int, schedule: list[float]) -> None:
    """However long it has been down, another attempt follows soon."""
    assert 0 < pause_seconds(pauses, schedule) <= MAX_PAUSE
