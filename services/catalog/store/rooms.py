"""Reads rooms."""

from collections.abc import Sequence

from services.catalog.store import locations
from services.catalog.wire.room import Room, RoomsQuery
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import Page, page_of, start_after

GET = "SELECT id, location_id, name, capacity, active FROM rooms WHERE studio_id = $1 AND id = $2"


async def get(conn: Connection, caller: Caller, room_id: str) -> Room:
    row = await conn.fetchrow(GET, caller.studio_id, room_id)
    if row is None or not caller.may_see(row["location_id"]):
        raise NotFound
    return Room(**row)


CURSOR = """
SELECT created_at, id FROM rooms
WHERE studio_id = $1 AND ($2::uuid[] IS NULL OR location_id = ANY ($2)) AND id = $3
"""
ALL = """
SELECT id, location_id, name, capacity, active FROM rooms
WHERE studio_id = $1 AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""
# One short index scan per location: filtering the whole list gets slower the rarer the location is.
OF_LOCATIONS = """
SELECT r.id, r.location_id, r.name, r.capacity, r.active
FROM unnest($5::uuid[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT * FROM rooms
    WHERE studio_id = $1 AND location_id = l.id AND (created_at, id) > ($2, $3)
    ORDER BY created_at, id LIMIT $4
) r
ORDER BY r.created_at, r.id LIMIT $4
"""


async def page(conn: Connection, caller: Caller, query: RoomsQuery) -> Page[Room]:
    after = await start_after(conn, CURSOR, query.cursor, caller.studio_id, caller.location_ids)
    permitted: Sequence[str] | None = caller.location_ids
    if query.location_id is not None:
        # After the cursor check: 400 comes before 404.
        await locations.get(conn, caller, query.location_id)
        permitted = [query.location_id]
    if permitted is None:
        rows = await conn.fetch(ALL, caller.studio_id, *after, query.limit + 1)
    else:
        rows = await conn.fetch(OF_LOCATIONS, caller.studio_id, *after, query.limit + 1, permitted)
    return page_of([Room(**row) for row in rows], query.limit)
