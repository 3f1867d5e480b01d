"""The log's days: what is kept, and where a row is by its id. Days begin at midnight UTC."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from shared.wire import is_id, moment_of

KEPT = timedelta(days=30)
# Partitions are made this long before they are needed.
AHEAD = timedelta(days=7)
# An event that is created later than this was written by a broken clock.
MAX_CLOCK_SKEW = timedelta(days=1)
DAY = timedelta(days=1)

# As in the database: the created_at of an event that is not known.
UNKNOWN = datetime(1, 1, 1, tzinfo=UTC)
NEVER = datetime(9999, 1, 1, tzinfo=UTC)


def start_of_day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def oldest_kept(at: datetime) -> datetime:
    """The start of the oldest day of which anything is kept."""
    return start_of_day(at - KEPT)


class Span(Struct, frozen=True):
    """From `since` up to `until`, which is not part of it."""

    since: datetime
    until: datetime

    def contains(self, moment: datetime) -> bool:
        return self.since <= moment < self.until

    def covers(self, other: "Span") -> bool:
        """An empty span is covered by every other."""
        return other.since > other.until or (self.since <= other.since and other.until <= self.until)

    def joined(self, other: "Span") -> "Span":
        return Span(min(self.since, other.since), max(self.until, other.until))

    def whole_days(self) -> "Span":
        """Up to the last moment of its last day, since open deliveries are those up to `until` inclusive."""
        return Span(start_of_day(self.since), start_of_day(self.until) + DAY - timedelta(microseconds=1))


EVER = Span(UNKNOWN, NEVER)


def span_of(ids: Iterable[str]) -> Span:
    """The days of the rows with these ids. All days, if one of the ids does not tell."""
    moments = [moment_of(id_) for id_ in ids]
    known = [moment for moment in moments if moment is not None]
    if not known or len(known) < len(moments):
        return EVER
    return Span(start_of_day(min(known)), start_of_day(max(known)) + DAY)


def span_of_cursor(cursor: str | None) -> Span:
    """The same for what a partner sent, which may not be an id."""
    return EVER if cursor is None or not is_id(cursor) else span_of([cursor])


class Run(Struct, frozen=True):
    """Events of one studio with consecutive sequences whose created_at is in one partition."""

    first_sequence: int
    span: Span


class Stretch(Struct, frozen=True):
    """The events after sequence `after` up to `upto` are all created within `span`."""

    after: int
    upto: int
    span: Span


def next_stretch(runs: Sequence[Run], after: int, latest: int, *, width: int, short: int) -> Stretch | None:
    """The stretch that follows `after`: `width` runs, and more as long as there are `short` events or fewer.

    None if no event follows.
    """
    first = max((place for place, run in enumerate(runs) if run.first_sequence <= after + 1), default=0)
    if not runs or after >= latest:
        return None
    upto = after
    taken: list[Span] = []
    for place in range(first, len(runs)):
        end = runs[place + 1].first_sequence - 1 if place + 1 < len(runs) else latest
        if len(taken) >= width and end - after > short:
            break
        taken.append(runs[place].span)
        upto = end
    return Stretch(after, upto, Span(min(s.since for s in taken), max(s.until for s in taken)))
