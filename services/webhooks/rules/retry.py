"""When the next attempt is due, and when to give up."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from msgspec import Struct

JITTER = 0.1
MAX_WAIT = 24 * 3600.0
# Statuses below 500 that say the receiver itself has a problem, not just this event.
ENDPOINT_FAILURES = frozenset({408, 429})


class Outcome(Struct, frozen=True):
    """The result of one attempt. `status` is None when there was no HTTP response; `error` says why."""

    status: int | None
    error: str | None
    retry_after: float | None = None

    @property
    def succeeded(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        return self.status == 410

    @property
    def is_endpoint_failure(self) -> bool:
        return self.status is None or self.status >= 500 or self.status in ENDPOINT_FAILURES


class NextStep(Struct, frozen=True):
    """The delivery's new status, its step in the retry schedule, and in how many seconds it is due again.

    Not a moment: the database adds the seconds to its own clock, by which it also decides what is due.
    """

    status: str
    step: int
    wait: float | None


def next_attempt(outcome: Outcome, step: int, schedule: Sequence[float], random_fraction: float) -> NextStep:
    """`random_fraction`, in [0, 1), spreads retries by ±10 % so that they do not all come at once."""
    if outcome.succeeded:
        return NextStep("succeeded", step, None)
    if outcome.gone or step >= len(schedule):
        return NextStep("dead", step, None)
    wait = schedule[step] * (1 - JITTER + 2 * JITTER * random_fraction)
    if outcome.retry_after is not None:
        wait = max(wait, min(outcome.retry_after, MAX_WAIT))
    return NextStep("pending", step + 1, wait)


def parse_retry_after(text: str | None, now: datetime) -> float | None:
    """Seconds, from either form that HTTP allows. None if missing or invalid."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
        return max(0.0, (when - now).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


# Consecutive failures that open the breaker.
THRESHOLD = 5
MAX_PAUSE = 300.0
# An endpoint that only failed for this long is disabled.
GIVE_UP_AFTER = timedelta(days=5)
MAX_WINDOW = 32


class Breaker(Struct, frozen=True):
    """`window`: how many attempts may be in flight at once. It grows with every success."""

    failures: int = 0
    pauses: int = 0
    paused_until: datetime | None = None
    failing_since: datetime | None = None
    last_failed_at: datetime | None = None
    window: int = 2

    def is_paused(self, now: datetime) -> bool:
        return self.paused_until is not None and self.paused_until > now

    def pause_left(self, now: datetime) -> float | None:
        """In seconds. None if it is not paused."""
        if self.paused_until is None or self.paused_until <= now:
            return None
        return (self.paused_until - now).total_seconds()

    def has_failed_too_long(self, now: datetime) -> bool:
        return self.failing_since is not None and now - self.failing_since >= GIVE_UP_AFTER


def after_attempt(breaker: Breaker, outcome: Outcome, schedule: Sequence[float], now: datetime) -> Breaker:
    """The state after one more attempt."""
    if outcome.succeeded:
        return Breaker(window=min(breaker.window + 1, MAX_WINDOW))
    since = failing_since(breaker, schedule, now)
    if not outcome.is_endpoint_failure:
        # The endpoint is up. It only refused this event.
        return Breaker(failing_since=since, last_failed_at=now, window=breaker.window)
    failures = breaker.failures + 1
    if wait := requested_wait(outcome):
        wait = max(wait, breaker.pause_left(now) or 0.0)
        return Breaker(failures, breaker.pauses + 1, now + timedelta(seconds=wait), since, now, 1)
    if breaker.is_paused(now) or (failures < THRESHOLD and breaker.pauses == 0):
        # Late failures do not extend the pause of a breaker that is already open.
        window = max(1, breaker.window // 2)
        return Breaker(failures, breaker.pauses, breaker.paused_until, since, now, window)
    pause = pause_seconds(breaker.pauses, schedule)
    return Breaker(failures, breaker.pauses + 1, now + timedelta(seconds=pause), since, now, 1)


def failing_since(breaker: Breaker, schedule: Sequence[float], now: datetime) -> datetime:
    """When this run of failures began.

    It starts again after a gap longer than any wait between attempts: a failure last week and one today are
    not a week of failures.
    """
    longest = max((MAX_WAIT, *schedule)) * (1 + 2 * JITTER)
    if breaker.failing_since is None or breaker.last_failed_at is None:
        return now
    return now if now - breaker.last_failed_at > timedelta(seconds=longest) else breaker.failing_since


def requested_wait(outcome: Outcome) -> float | None:
    """The `Retry-After` of a 429 or 503. It applies to the endpoint, not to one event."""
    if outcome.status not in (429, 503) or outcome.retry_after is None:
        return None
    return min(outcome.retry_after, MAX_WAIT)


def pause_seconds(pauses: int, schedule: Sequence[float]) -> float:
    """Doubles from the first wait of the schedule, up to its longest and at most five minutes."""
    first = schedule[0] if schedule else 5.0
    longest = min(MAX_PAUSE, max(schedule, default=MAX_PAUSE))
    return min(first * 2.0 ** min(pauses, 20), longest)
