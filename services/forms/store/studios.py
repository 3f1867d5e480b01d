"""This service's copy of a studio."""

from shared.db.database import Connection
from shared.http.caller import Caller

TIMEZONE = "SELECT timezone FROM studios WHERE id = $1"


async def timezone_of(conn: Connection, caller: Caller) -> str | None:
    timezone: str | None = await conn.fetchval(TIMEZONE, caller.studio_id)
    return timezone
