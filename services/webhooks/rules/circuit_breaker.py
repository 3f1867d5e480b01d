"""The circuit breaker of one endpoint: after several failures it opens and the lane pauses.

After the pause one probe is sent. Deliveries do not use up attempts while they wait; only the probe does.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from services.webhooks.rules.retry import JITTER, MAX_WAIT, Outcome

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


def after(breaker: Breaker, outcome: Outcome, schedule: Sequence[float], now: datetime) -> Breaker:
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
