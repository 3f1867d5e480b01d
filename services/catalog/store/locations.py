"""Reads locations."""

from services.catalog.wire.location import Location
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import Page, page_of, start_after
from shared.wire import PageQuery

GET = """
SELECT id, name, city, state, timezone, active, is_primary
FROM locations WHERE studio_id = $1 AND id = $2
"""


async def get(conn: Connection, caller: Caller, location_id: str) -> Location:
    row = await conn.fetchrow(GET, caller.studio_id, location_id)
    if row is None or not caller.may_see(location_id):
        raise NotFound
    return Location(**row)


CURSOR = """
SELECT created_at, id FROM locations
WHERE studio_id = $1 AND ($2::uuid[] IS NULL OR id = ANY ($2)) AND id = $3
"""
ALL = """
SELECT id, name, city, state, timezone, active, is_primary FROM locations
WHERE studio_id = $1 AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""
PERMITTED = """
SELECT id, name, city, state, timezone, active, is_primary FROM locations
WHERE studio_id = $1 AND (created_at, id) > ($2, $3) AND id = ANY ($5)
ORDER BY created_at, id LIMIT $4
"""


async def page(conn: Connection, caller: Caller, query: PageQuery) -> Page[Location]:
    after = await start_after(conn, CURSOR, query.cursor, caller.studio_id, caller.location_ids)
    if caller.location_ids is None:
        rows = await conn.fetch(ALL, caller.studio_id, *after, query.limit + 1)
    else:
        rows = await conn.fetch(PERMITTED, caller.studio_id, *after, query.limit + 1, caller.location_ids)
    return page_of([Location(**row) for row in rows], query.limit)
