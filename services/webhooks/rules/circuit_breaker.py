"""The breaker of one endpoint: after a run of trouble the lane pauses, then one attempt tries the water.

A pause costs no attempts: deliveries wait untouched. Only the one that tries the water counts its attempt.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from services.webhooks.rules.retry import JITTER, MAX_WAIT, Outcome

# Trouble in a row that opens the breaker.
THRESHOLD = 5
MAX_PAUSE = 300.0
# Nothing but failures for so long disables the endpoint.
GIVE_UP_AFTER = timedelta(days=5)
MAX_WINDOW = 32


class Breaker(Struct, frozen=True):
    """`window`: how many attempts may be under way at once, more as it goes well."""

    failures: int = 0
    pauses: int = 0
    paused_until: datetime | None = None
    failing_since: datetime | None = None
    last_failed_at: datetime | None = None
    window: int = 2

    def is_paused(self, now: datetime) -> bool:
        return self.paused_until is not None and self.paused_until > now

    def has_failed_too_long(self, now: datetime) -> bool:
        return self.failing_since is not None and now - self.failing_since >= GIVE_UP_AFTER


def after(breaker: Breaker, outcome: Outcome, schedule: Sequence[float], now: datetime) -> Breaker:
    """The breaker after one more attempt."""
    if outcome.succeeded:
        return Breaker(window=min(breaker.window + 1, MAX_WINDOW))
    since = failing_since(breaker, schedule, now)
    if not outcome.is_endpoint_failure:
        # It answers: the event is refused, the endpoint is not down.
        return Breaker(failing_since=since, last_failed_at=now, window=breaker.window)
    failures = breaker.failures + 1
    if asked := requested_wait(outcome):
        until = max(now + timedelta(seconds=asked), breaker.paused_until or now)
        return Breaker(failures, breaker.pauses + 1, until, since, now, 1)
    if breaker.is_paused(now) or (failures < THRESHOLD and breaker.pauses == 0):
        # Stragglers of a breaker that has opened already do not lengthen its pause.
        return Breaker(
            failures, breaker.pauses, breaker.paused_until, since, now, max(1, breaker.window // 2)
        )
    pause = pause_seconds(breaker.pauses, schedule)
    return Breaker(failures, breaker.pauses + 1, now + timedelta(seconds=pause), since, now, 1)


def failing_since(breaker: Breaker, schedule: Sequence[float], now: datetime) -> datetime:
    """When this run of failures began. After a silence longer than any wait between attempts it begins anew:
    a failure of last week and one of today are no week of failures."""
    longest = max((MAX_WAIT, *schedule)) * (1 + 2 * JITTER)
    if breaker.failing_since is None or breaker.last_failed_at is None:
        return now
    return now if now - breaker.last_failed_at > timedelta(seconds=longest) else breaker.failing_since


def requested_wait(outcome: Outcome) -> float | None:
    """How long the receiver asks to be left alone, as a whole: 429 and 503 are not about one event."""
    if outcome.status not in (429, 503) or outcome.retry_after is None:
        return None
    return min(outcome.retry_after, MAX_WAIT)


def pause_seconds(pauses: int, schedule: Sequence[float]) -> float:
    """Doubling from the schedule's first wait; never longer than its longest, nor than five minutes."""
    first = schedule[0] if schedule else 5.0
    longest = min(MAX_PAUSE, max(schedule, default=MAX_PAUSE))
    return min(first * 2.0 ** min(pauses, 20), longest)
