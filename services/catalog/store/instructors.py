"""Reads instructors."""

from services.catalog.wire.instructor import Instructor
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import Page, page_of, start_after
from shared.wire import PageQuery

# Inactive instructors stay readable by id, because past classes refer to them.
GET = "SELECT id, name, tagline, tags FROM instructors WHERE studio_id = $1 AND id = $2"


async def get(conn: Connection, caller: Caller, instructor_id: str) -> Instructor:
    row = await conn.fetchrow(GET, caller.studio_id, instructor_id)
    if row is None:
        raise NotFound
    return Instructor(**row)


CURSOR = "SELECT created_at, id FROM instructors WHERE studio_id = $1 AND id = $2"
PAGE = """
SELECT id, name, tagline, tags FROM instructors
WHERE studio_id = $1 AND active AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""


async def page(conn: Connection, caller: Caller, query: PageQuery) -> Page[Instructor]:
    after = await start_after(conn, CURSOR, query.cursor, caller.studio_id)
    rows = await conn.fetch(PAGE, caller.studio_id, *after, query.limit + 1)
    return page_of([Instructor(**row) for row in rows], query.limit)
