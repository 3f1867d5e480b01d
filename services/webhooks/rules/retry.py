"""When the next attempt is due, and when to give up."""

from collections.abc import Sequence
from datetime import datetime
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
