"""Read the event log, filtered by what the caller may see. Every page costs the same."""

import asyncpg
from msgspec import Struct

from services.webhooks.rules.visibility import EVERYTHING, View, is_location_bound
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
    """A test event has a `client_id`: only that client and operators see it."""
    if not view_of(caller).shows(row["type"], row["location_id"]):
        return False
    return row["client_id"] in (None, caller.client_id) or caller.actor == "operator"


PLACE = "SELECT sequence, type, location_id, client_id FROM events WHERE studio_id = $1 AND id = $2"


async def sequence_of_cursor(conn: Connection, caller: Caller, cursor: str | None) -> int:
    """An event that the caller may not see is as unknown as one that does not exist."""
    row = await resolve_cursor(conn, PLACE, cursor, caller.studio_id)
    if row is None:
        return 0
    if not _may_see(caller, row):
        raise InvalidCursor
    sequence: int = row["sequence"]
    return sequence


# One index scan up to the limit per kind, and per permitted location for location-bound kinds.
BY_KIND = """
SELECT found.id, found.sequence, found.body FROM (
    SELECT e.* FROM unnest($3::text[]) AS kind CROSS JOIN LATERAL (
        SELECT id, sequence, body FROM events
        WHERE studio_id = $1 AND type = kind AND sequence > $2
          AND (client_id IS NULL OR client_id = $5 OR $6)
        ORDER BY sequence LIMIT $4) AS e
    UNION ALL
    SELECT e.* FROM unnest($7::text[], $8::uuid[]) AS place (kind, location) CROSS JOIN LATERAL (
        SELECT id, sequence, body FROM events
        WHERE studio_id = $1 AND location_id = place.location AND type = place.kind AND sequence > $2
        ORDER BY sequence LIMIT $4) AS e
) AS found ORDER BY found.sequence LIMIT $4
"""


async def list_events(
    conn: Connection, caller: Caller, *, after: int, type_: str | None, limit: int
) -> list[EventBody]:
    view = view_of(caller)
    kinds = [kind for kind in view.kinds() if type_ is None or kind == type_]
    bound = [kind for kind in kinds if is_location_bound(kind)] if view.location_ids is not None else []
    places = [(kind, location) for kind in bound for location in sorted(view.location_ids or ())]
    rows = await conn.fetch(
        BY_KIND,
        caller.studio_id,
        after,
        [kind for kind in kinds if kind not in bound],
        limit,
        caller.client_id,
        caller.actor == "operator",
        [kind for kind, _ in places],
        [location for _, location in places],
    )
    return [EventBody(row["id"], row["sequence"], row["body"]) for row in rows]


GET = "SELECT id, sequence, type, location_id, client_id, body FROM events WHERE studio_id = $1 AND id = $2"


async def get_event(conn: Connection, caller: Caller, event_id: str) -> EventBody | None:
    row = await conn.fetchrow(GET, caller.studio_id, event_id)
    if row is None or not _may_see(caller, row):
        return None
    return EventBody(row["id"], row["sequence"], row["body"])
