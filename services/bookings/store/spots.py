"""The spots of a class, in their order."""

from services.bookings.wire.classes import ClassSpot
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.pages import resolve_cursor
from shared.wire import PageQuery

LIST = """
SELECT s.id, s.class_id, s.label, s.sort_order AS order, NOT EXISTS (
    SELECT FROM bookings b WHERE b.studio_id = $1 AND b.class_id = $2 AND b.class_spot_id = s.id
      AND b.status IN ('confirmed', 'checked_in')) AS available
FROM class_spots s
WHERE s.studio_id = $1 AND s.class_id = $2 AND ($3::int IS NULL OR (s.sort_order, s.id) > ($3, $4::uuid))
ORDER BY s.sort_order, s.id LIMIT $5
"""
CURSOR = "SELECT sort_order, id FROM class_spots WHERE studio_id = $1 AND class_id = $2 AND id = $3"


async def list_page(conn: Connection, caller: Caller, class_id: str, query: PageQuery) -> list[ClassSpot]:
    after = await resolve_cursor(conn, CURSOR, query.cursor, caller.studio_id, class_id)
    order, last = (after["sort_order"], after["id"]) if after else (None, None)
    rows = await conn.fetch(LIST, caller.studio_id, class_id, order, last, query.limit + 1)
    return [ClassSpot(**dict(row)) for row in rows]
