"""Read the event log, filtered by what the caller may see. Every page costs about the same."""

from collections.abc import Sequence

import asyncpg
from msgspec import Struct

from services.webhooks.rules.visibility import EVERYTHING, View
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


PLACE = """
SELECT sequence, type, location_id, client_id, moved_to FROM events WHERE studio_id = $1 AND id = $2
"""


async def sequence_of_cursor(conn: Connection, caller: Caller, cursor: str | None) -> int:
    """An event that the caller may not see is as unknown as one that does not exist."""
    row = await resolve_cursor(conn, PLACE, cursor, caller.studio_id)
    if row is None:
        return 0
    if not _may_see(caller, row):
        raise InvalidCursor
    sequence: int = row["sequence"]
    return sequence


# One index scan up to the limit per channel, and per permitted location for location-bound ones. A move
# between two permitted locations is shown once, by the event at the second.
BY_KIND = """
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
          AND (moved_to IS NULL OR moved_to <> ALL ($9::uuid[]))
        ORDER BY sequence LIMIT $4) AS e
) AS found ORDER BY found.sequence LIMIT $4
"""
# The same for a few events: cheaper than a scan for each channel.
BY_SEQUENCE = """
SELECT id, sequence, body FROM events
WHERE studio_id = $1 AND sequence > $2 AND sequence <= $10
  AND (type = ANY($3::text[]) AND (client_id IS NULL OR client_id = $5 OR $6)
       OR type = ANY($7::text[]) AND location_id = ANY($8::uuid[])
          AND (moved_to IS NULL OR moved_to <> ALL ($9::uuid[])))
ORDER BY sequence LIMIT $4
"""
SHORT = 400


async def list_events(
    conn: Connection, caller: Caller, *, after: int, until: int, type_: str | None, limit: int
) -> list[EventBody]:
    """The next events after a sequence, up to another.

    Most keys see most events, so that a page is among the next few. A rare type is looked for in all.
    """
    view = view_of(caller)
    locations = sorted(view.location_ids or ())
    limited = view.location_ids is not None
    channels = [channel for channel in view.channels() if type_ is None or channel.kind.name == type_]
    bound = [channel.name for channel in channels if limited and channel.kind.location_bound]
    everywhere = [channel.name for channel in channels if channel.name not in bound]
    places = [(channel, location) for channel in bound for location in locations]
    rows: list[asyncpg.Record] = []

    async def read(sql: str, channels: Sequence[str], at: Sequence[str], upto: int) -> None:
        operator = caller.actor == "operator"
        seen = (caller.studio_id, after, everywhere, limit - len(rows), caller.client_id, operator)
        rows.extend(await conn.fetch(sql, *seen, channels, at, locations, upto))

    if type_ is None or until - after <= SHORT:
        near = min(until, after + SHORT)
        await read(BY_SEQUENCE, bound, locations, near)
        after = near
    if len(rows) < limit and after < until:
        await read(BY_KIND, [channel for channel, _ in places], [location for _, location in places], until)
    return [EventBody(row["id"], row["sequence"], row["body"]) for row in rows]


GET = """
SELECT id, sequence, type, location_id, client_id, moved_to, body FROM events
WHERE studio_id = $1 AND id = $2
"""


async def get_event(conn: Connection, caller: Caller, event_id: str) -> EventBody | None:
    row = await conn.fetchrow(GET, caller.studio_id, event_id)
    if row is None or not _may_see(caller, row):
        return None
    return EventBody(row["id"], row["sequence"], row["body"])
