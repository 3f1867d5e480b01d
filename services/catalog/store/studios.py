"""Reads the studio."""

from services.catalog.wire.studio import Studio
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller

GET = "SELECT id, name, slug, timezone, logo_url, primary_color FROM studios WHERE id = $1"


async def get(conn: Connection, caller: Caller) -> Studio:
    row = await conn.fetchrow(GET, caller.studio_id)
    if row is None:
        raise NotFound
    return Studio(**row)
