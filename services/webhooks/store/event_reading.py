"""Read the event log, filtered by what the caller may see. Every page costs the same."""

from collections.abc import Sequence

import asyncpg
from msgspec import Struct

from services.webhooks.rules.days import Run, Span, Stretch, next_stretch, span_of, span_of_cursor
from services.webhooks.rules.visibility import EVERYTHING, View
from services.webhooks.store.day_tables import PARTITION, DayTables
from shared.db.database import Connection
from shared.errors import InvalidCursor
from shared.http.caller import Caller
from shared.http.pages import resolve_cursor


class EventBody(Struct, frozen=True):
    id: str
    sequence: int
    body: bytes


def view_of(caller: Caller) -> View:
    """Operators see all events of the studio."""
    if caller.actor == "operator":
        return EVERYTHING
    locations = None if caller.location_ids is None else frozenset(caller.location_ids)
    return View(caller.scopes, locations)


def _may_see(caller: Caller, row: asyncpg.Record) -> bool:
    """An event with a `client_id` is for that client; operators see it too."""
    if not view_of(caller).shows(row["type"], row["location_id"], row["moved_to"]):
        return False
    return row["client_id"] in (None, caller.client_id) or caller.actor == "operator"


PLACE = f"""
SELECT sequence, type, location_id, client_id, moved_to FROM events{PARTITION}
WHERE studio_id = $1 AND created_at >= $2 AND created_at < $3 AND id = $4
"""  # noqa: S608


async def sequence_of_cursor(conn: Connection, days: DayTables, caller: Caller, cursor: str | None) -> int:
    """An event that the caller may not see is as unknown as one that does not exist."""
    if cursor is None:
        return 0
    span = span_of_cursor(cursor)
    row = await days.read(
        conn,
        PLACE,
        span,
        lambda sql: resolve_cursor(conn, sql, cursor, caller.studio_id, span.since, span.until),
    )
    if row is None:
        return 0
    if not _may_see(caller, row):
        raise InvalidCursor
    sequence: int = row["sequence"]
    return sequence


class LogPosition(Struct, frozen=True):
    """The sequence of the studio's newest event, and on which days the next events after a place are.

    `known_upto`: the last sequence whose day is known.
    """

    latest: int
    runs: list[Run]
    known_upto: int


# In one snapshot: no day up to the last sequence is missing. The first run may begin before the place.
POSITION = """
SELECT c.last_sequence, ARRAY(
    SELECT ROW(first_sequence, since, until) FROM event_days d
    WHERE d.studio_id = $1 AND d.first_sequence >= coalesce((
        SELECT max(first_sequence) FROM event_days
        WHERE studio_id = $1 AND first_sequence <= $2::bigint + 1), 0)
    ORDER BY first_sequence LIMIT $3) AS runs
FROM event_counters c WHERE c.studio_id = $1
"""
# Most pages are of one day. The run after it only shows where that ends.
FIRST_RUNS = 2


async def position(conn: Connection, caller: Caller, after: int, limit: int = FIRST_RUNS) -> LogPosition:
    row = await conn.fetchrow(POSITION, caller.studio_id, after, limit)
    if row is None:
        return LogPosition(0, [], 0)
    latest: int = row["last_sequence"]
    runs = [Run(first, Span(since, until)) for first, since, until in row["runs"]]
    if len(runs) < limit:
        return LogPosition(latest, runs, latest)
    return LogPosition(latest, runs[:-1], min(latest, runs[-1].first_sequence - 1))


# One index scan up to the limit per channel, and per permitted location for location-bound ones. A move
# between two permitted locations is shown once, by the event at the second.
BY_KIND = f"""
SELECT found.id, found.sequence, found.body FROM (
    SELECT e.* FROM unnest($3::text[]) AS channel CROSS JOIN LATERAL (
        SELECT id, sequence, body FROM events{PARTITION}
        WHERE studio_id = $1 AND type = channel AND sequence > $2 AND sequence <= $10
          AND created_at >= $11 AND created_at < $12
          AND (client_id IS NULL OR client_id = $5 OR $6)
        ORDER BY sequence LIMIT $4) AS e
    UNION ALL
    SELECT e.* FROM unnest($7::text[], $8::uuid[]) AS place (channel, location) CROSS JOIN LATERAL (
        SELECT id, sequence, body FROM events{PARTITION}
        WHERE studio_id = $1 AND location_id = place.location AND type = place.channel AND sequence > $2
          AND sequence <= $10 AND created_at >= $11 AND created_at < $12
          AND (moved_to IS NULL OR moved_to <> ALL ($9::uuid[]))
        ORDER BY sequence LIMIT $4) AS e
) AS found ORDER BY found.sequence LIMIT $4
"""  # noqa: S608
# The same for a few events: cheaper than a scan for each channel.
BY_SEQUENCE = f"""
SELECT id, sequence, body FROM events{PARTITION}
WHERE studio_id = $1 AND sequence > $2 AND sequence <= $10 AND created_at >= $11 AND created_at < $12
  AND (type = ANY($3::text[]) AND (client_id IS NULL OR client_id = $5 OR $6)
       OR type = ANY($7::text[]) AND location_id = ANY($8::uuid[])
          AND (moved_to IS NULL OR moved_to <> ALL ($9::uuid[])))
ORDER BY sequence LIMIT $4
"""  # noqa: S608
SHORT = 200


async def list_events(
    conn: Connection,
    days: DayTables,
    caller: Caller,
    at: LogPosition,
    *,
    after: int,
    type_: str | None,
    limit: int,
) -> list[EventBody]:
    """The next events after a sequence, up to the position.

    Each query covers twice as many days as the one before: a rare type may be on the last of them.
    """
    view = view_of(caller)
    locations = sorted(view.location_ids or ())
    limited = view.location_ids is not None
    channels = [channel for channel in view.channels() if type_ is None or channel.kind.name == type_]
    bound = [channel.name for channel in channels if limited and channel.kind.location_bound]
    everywhere = [channel.name for channel in channels if channel.name not in bound]
    rows: list[asyncpg.Record] = []
    width = 1
    while len(rows) < limit and after < at.latest:
        if after >= at.known_upto:
            later = await position(conn, caller, after, width + 1)
            at = LogPosition(at.latest, later.runs, min(at.latest, later.known_upto))
        stretch = next_stretch(at.runs, after, at.known_upto, width=width, short=SHORT)
        if stretch is None:
            break
        rows += await _read(conn, days, caller, stretch, everywhere, bound, locations, limit - len(rows))
        after, width = stretch.upto, width * 2
    return [EventBody(row["id"], row["sequence"], row["body"]) for row in rows]


async def _read(
    conn: Connection,
    days: DayTables,
    caller: Caller,
    stretch: Stretch,
    everywhere: Sequence[str],
    bound: Sequence[str],
    locations: Sequence[str],
    limit: int,
) -> list[asyncpg.Record]:
    few = stretch.upto - stretch.after <= SHORT
    places = [(channel, location) for channel in bound for location in locations]
    args = (
        caller.studio_id,
        stretch.after,
        everywhere,
        limit,
        caller.client_id,
        caller.actor == "operator",
        bound if few else [channel for channel, _ in places],
        locations if few else [location for _, location in places],
        locations,
        stretch.upto,
        stretch.span.since,
        stretch.span.until,
    )
    sql = BY_SEQUENCE if few else BY_KIND
    return await days.read(conn, sql, stretch.span, lambda sql: conn.fetch(sql, *args))


GET = f"""
SELECT id, sequence, type, location_id, client_id, moved_to, body FROM events{PARTITION}
WHERE studio_id = $1 AND id = $2 AND created_at >= $3 AND created_at < $4
"""  # noqa: S608


async def get_event(conn: Connection, days: DayTables, caller: Caller, event_id: str) -> EventBody | None:
    span = span_of([event_id])
    args = (caller.studio_id, event_id, span.since, span.until)
    row = await days.read(conn, GET, span, lambda sql: conn.fetchrow(sql, *args))
    if row is None or not _may_see(caller, row):
        return None
    return EventBody(row["id"], row["sequence"], row["body"])
