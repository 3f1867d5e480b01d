"""Reads class types."""

from services.catalog.wire.class_type import ClassType
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import Page, page_of, start_after
from shared.wire import PageQuery

GET = """
SELECT id, name, description, beginner_safe, recovery
FROM class_types WHERE studio_id = $1 AND id = $2
"""


async def get(conn: Connection, caller: Caller, class_type_id: str) -> ClassType:
    row = await conn.fetchrow(GET, caller.studio_id, class_type_id)
    if row is None:
        raise NotFound
    return ClassType(**row)


CURSOR = "SELECT created_at, id FROM class_types WHERE studio_id = $1 AND id = $2"
PAGE = """
SELECT id, name, description, beginner_safe, recovery FROM class_types
WHERE studio_id = $1 AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""


async def page(conn: Connection, caller: Caller, query: PageQuery) -> Page[ClassType]:
    after = await start_after(conn, CURSOR, query.cursor, caller.studio_id)
    rows = await conn.fetch(PAGE, caller.studio_id, *after, query.limit + 1)
    return page_of([ClassType(**row) for row in rows], query.limit)
