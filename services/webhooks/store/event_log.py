"""The event log: stores every event once, with the studio's next sequence. Shows what a caller may see."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import asyncpg
from msgspec import Struct

from services.webhooks.rules.visibility import EVERYTHING, SEPARATOR, Subscriber, View
from services.webhooks.store.endpoints import read_subscriber
from shared.db.database import Connection, columns
from shared.errors import InvalidCursor
from shared.events.anonymize import person_in
from shared.events.envelope import Envelope
from shared.events.event import Audience
from shared.http.caller import Caller
from shared.http.pages import resolve_cursor

LOCK = """
SELECT studio_id, last_sequence FROM event_counters WHERE studio_id = ANY($1::uuid[])
ORDER BY studio_id FOR UPDATE
"""
START = "INSERT INTO event_counters (studio_id) SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING"


async def lock_counters(conn: Connection, studio_ids: Sequence[str]) -> dict[str, int]:
    """The last sequence of each studio. Until the commit nobody else stores events of these studios."""
    counters = {row["studio_id"]: row["last_sequence"] for row in await conn.fetch(LOCK, studio_ids)}
    missing = [studio_id for studio_id in studio_ids if studio_id not in counters]
    if not missing:
        return counters
    await conn.execute(START, missing)
    return {row["studio_id"]: row["last_sequence"] for row in await conn.fetch(LOCK, studio_ids)}


POSITION = "SELECT last_sequence FROM event_counters WHERE studio_id = $1"


async def position(conn: Connection, caller: Caller) -> int:
    """The sequence of the studio's newest event."""
    return await conn.fetchval(POSITION, caller.studio_id) or 0


class Beginning(Struct, frozen=True):
    """What the log has to know before it stores events. `interested`: the studios' enabled endpoints.

    `unfinished`: the studios with an event that is still to be fanned out to some of its endpoints.
    """

    counters: dict[str, int]
    logged: set[str]
    about_erased: set[str]
    unfinished: list[str]
    interested: list[Subscriber]


BEGIN = "SELECT * FROM begin_logging($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5, $6)"


async def begin_logging(conn: Connection, envelopes: Sequence[Envelope]) -> Beginning:
    """Until the commit nobody else stores events of these studios.

    An event comes again if a relay could not remove its row: then it is logged already.
    """
    studio_ids, ids, moments = columns(envelopes, "studio_id", "id", "created_at")
    people = [person_in(envelope.resource, envelope.data) for envelope in envelopes]
    studios = sorted(set(studio_ids))
    known, *rows = await conn.fetch(BEGIN, studios, studio_ids, ids, people, min(moments), max(moments))
    counters = {row["studio_id"]: row["last_sequence"] for row in rows}
    interested = [read_subscriber(row) for row in rows if row["endpoint_ids"] is not None]
    logged, erased, unfinished = set(known["logged"]), set(known["erased"]), known["unfinished"]
    return Beginning(counters, logged, erased, unfinished, interested)


class StoredEvent(Struct, frozen=True, kw_only=True):
    """`type` is the name of a channel (rules/visibility.py): the kind and, if it has one, the audience."""

    studio_id: str
    id: str
    sequence: int
    type: str
    location_id: str | None
    client_id: str | None = None
    moved_to: str | None = None
    created_at: datetime
    body: bytes
    traceparent: str | None = None
    request_id: str | None = None
    # Its person was erased: the body carries ids only.
    erased: bool = False


COLUMNS = (
    "studio_id", "id", "sequence", "type", "location_id", "client_id", "created_at", "body", "traceparent",
    "moved_to", "request_id",
)  # fmt: skip
# Both in one statement, which is part of that of the first deliveries (store/deliveries.py) if there are any:
# each round trip is part of the time from a commit to its receipt.
ADVANCED = """
advanced AS (
    UPDATE event_counters c SET last_sequence = n.last_sequence
    FROM (SELECT studio_id, max(sequence) AS last_sequence
          FROM unnest($1::uuid[], $3::bigint[]) AS e (studio_id, sequence) GROUP BY studio_id) AS n
    WHERE c.studio_id = n.studio_id
)
"""
INSERT = """
INSERT INTO events (studio_id, id, sequence, type, location_id, client_id, created_at, body, traceparent,
                    moved_to, request_id)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::uuid[], $6::text[],
                     $7::timestamptz[], $8::bytea[], $9::text[], $10::uuid[], $11::text[])
"""


def parameters(events: Sequence[StoredEvent]) -> list[list[Any]]:
    return columns(events, *COLUMNS)


async def insert_events(conn: Connection, events: Sequence[StoredEvent]) -> None:
    """Also advances the studios' counters, which the caller has locked."""
    await conn.execute(f"WITH {ADVANCED} {INSERT}", *parameters(events))


# After a restore. Locked in the order of their ids, as above. A studio whose first event came after the
# backup has no counter any more, so it gets one here: where new studios start, after earlier jumps.
LOCK_ALL = """
INSERT INTO event_counters (studio_id)
SELECT id FROM unnest($1::uuid[]) AS studio (id) ORDER BY id
ON CONFLICT (studio_id) DO UPDATE SET last_sequence = event_counters.last_sequence
"""
ADVANCE_STUDIOS = (
    "UPDATE event_counters SET last_sequence = last_sequence + $2 WHERE studio_id = ANY($1::uuid[])"
)
ADVANCE_ENDPOINTS = """
UPDATE lanes SET last_sequence = last_sequence + $2
WHERE endpoint_id IN (
    SELECT endpoint_id FROM lanes WHERE studio_id = ANY($1::uuid[]) ORDER BY endpoint_id FOR UPDATE)
"""


async def advance_sequences(conn: Connection, studio_ids: Sequence[str], by: int) -> None:
    """The studios' sequences, and each endpoint's `webhook-sequence`."""
    await conn.execute(LOCK_ALL, studio_ids)
    await conn.execute(ADVANCE_STUDIOS, studio_ids, by)
    await conn.execute(ADVANCE_ENDPOINTS, studio_ids, by)


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


def may_see(caller: Caller, row: asyncpg.Record) -> bool:
    """An event with a `client_id` is for that client; operators see it too."""
    if not view_of(caller).shows(row["type"], row["location_id"], row["moved_to"]):
        return False
    return row["client_id"] in (None, caller.client_id) or caller.actor == "operator"


GET = """
SELECT id, sequence, type, location_id, client_id, moved_to, body FROM events
WHERE studio_id = $1 AND id = $2
"""


async def get_event(conn: Connection, caller: Caller, event_id: str) -> EventBody | None:
    row = await conn.fetchrow(GET, caller.studio_id, event_id)
    if row is None or not may_see(caller, row):
        return None
    return EventBody(row["id"], row["sequence"], row["body"])


async def sequence_of_cursor(conn: Connection, caller: Caller, cursor: str | None) -> int:
    """An event that the caller may not see is as unknown as one that does not exist."""
    row = await resolve_cursor(conn, GET, cursor, caller.studio_id)
    if row is None:
        return 0
    if not may_see(caller, row):
        raise InvalidCursor
    return int(row["sequence"])


OLDEST = "SELECT sequence FROM events WHERE studio_id = $1 ORDER BY sequence LIMIT 1"


async def oldest(conn: Connection, caller: Caller) -> int | None:
    """The sequence of the studio's oldest event that is kept."""
    found: int | None = await conn.fetchval(OLDEST, caller.studio_id)
    return found


# An event of a move is for keys that see both locations, or for those that see one.
_FOR_BOTH = f"type LIKE '%{SEPARATOR}{Audience.BOTH_LOCATIONS}'"
_RIGHT_SIDE = f"(moved_to IS NULL AND NOT {_FOR_BOTH} OR (moved_to = ANY ($9::uuid[])) = ({_FOR_BOTH}))"
# One index scan up to the limit per channel, and per permitted location for location-bound ones. A move
# between two permitted locations is shown once, by the event at the second.
BY_KIND = f"""
SELECT found.id, found.sequence, found.body FROM (
    SELECT e.* FROM unnest($3::text[]) AS channel CROSS JOIN LATERAL (
        SELECT id, sequence, body FROM events
        WHERE studio_id = $1 AND type = channel AND sequence > $2 AND sequence <= $10
          AND (client_id IS NULL OR client_id = $5 OR $6)
        ORDER BY sequence LIMIT $4) AS e
    UNION ALL
    SELECT e.* FROM unnest($7::text[], $8::uuid[]) AS place (channel, location) CROSS JOIN LATERAL (
        SELECT id, sequence, body FROM events
        WHERE studio_id = $1 AND location_id = place.location AND type = place.channel AND sequence > $2
          AND sequence <= $10
          AND {_RIGHT_SIDE}
        ORDER BY sequence LIMIT $4) AS e
) AS found ORDER BY found.sequence LIMIT $4
"""  # noqa: S608
# The same for a few events: cheaper than a scan for each channel.
BY_SEQUENCE = f"""
SELECT id, sequence, body FROM events
WHERE studio_id = $1 AND sequence > $2 AND sequence <= $10
  AND (type = ANY($3::text[]) AND (client_id IS NULL OR client_id = $5 OR $6)
       OR type = ANY($7::text[]) AND location_id = ANY($8::uuid[])
          AND {_RIGHT_SIDE})
ORDER BY sequence LIMIT $4
"""  # noqa: S608
BY_REQUEST = BY_SEQUENCE.replace("ORDER BY", "AND request_id = $11 ORDER BY")
SHORT = 400


def _newest_first(sql: str) -> str:
    return sql.replace("sequence LIMIT", "sequence DESC LIMIT")


class Wanted(Struct, frozen=True, kw_only=True):
    type: str | None = None
    request_id: str | None = None
    newest_first: bool = False


async def list_events(
    conn: Connection, caller: Caller, wanted: Wanted, *, after: int, until: int, limit: int
) -> list[EventBody]:
    """The next events after a sequence, up to another; or the last ones of them, the newest first.

    Most keys see most events, so that a page is among the next few. A rare type is looked for in all.
    """
    view = view_of(caller)
    locations = sorted(view.location_ids or ())
    limited = view.location_ids is not None
    channels = [
        channel for channel in view.channels() if wanted.type is None or channel.kind.name == wanted.type
    ]
    bound = [channel.name for channel in channels if limited and channel.kind.location_bound]
    everywhere = [channel.name for channel in channels if channel.name not in bound]
    places = [(channel, location) for channel in bound for location in locations]
    rows: list[asyncpg.Record] = []

    async def read(sql: str, channels: Sequence[str], at: Sequence[str], low: int, high: int) -> None:
        operator = caller.actor == "operator"
        seen = (caller.studio_id, low, everywhere, limit - len(rows), caller.client_id, operator)
        more = (wanted.request_id,) if wanted.request_id is not None else ()
        sql = _newest_first(sql) if wanted.newest_first else sql
        rows.extend(await conn.fetch(sql, *seen, channels, at, locations, high, *more))

    if wanted.request_id is not None:
        await read(BY_REQUEST, bound, locations, after, until)
    else:
        if wanted.type is None or until - after <= SHORT:
            if wanted.newest_first:
                near = max(after, until - SHORT)
                await read(BY_SEQUENCE, bound, locations, near, until)
                until = near
            else:
                near = min(until, after + SHORT)
                await read(BY_SEQUENCE, bound, locations, after, near)
                after = near
        if len(rows) < limit and after < until:
            await read(
                BY_KIND,
                [channel for channel, _ in places],
                [location for _, location in places],
                after,
                until,
            )
    return [EventBody(row["id"], row["sequence"], row["body"]) for row in rows]


# In one snapshot: a studio's counter moves in the transaction of its events.
NEW_SINCE = """
SELECT s.studio_id, s.last_sequence, (
    SELECT sequence FROM events WHERE studio_id = s.studio_id ORDER BY sequence LIMIT 1) AS oldest, e.*
FROM (
    SELECT s.studio_id, s.seen, c.last_sequence FROM unnest($1::uuid[], $2::bigint[]) AS s (studio_id, seen)
    JOIN event_counters c ON c.studio_id = s.studio_id AND c.last_sequence > s.seen LIMIT $4) AS s
LEFT JOIN LATERAL (
    SELECT id, sequence, type, location_id, client_id, moved_to, request_id, body FROM events
    WHERE studio_id = s.studio_id AND sequence > s.seen ORDER BY sequence LIMIT $3) AS e ON true
ORDER BY s.studio_id, e.sequence
"""


async def new_since(
    conn: Connection, seen: Mapping[str, int], limit: int, studios: int
) -> list[asyncpg.Record]:
    """The next events of some studios after the sequence that is known of each."""
    return await conn.fetch(NEW_SINCE, list(seen), list(seen.values()), limit, studios)
