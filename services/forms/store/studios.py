"""This service's copy of a studio."""

from shared.db.database import Connection
from shared.http.caller import Caller

TIMEZONE = "SELECT timezone FROM studios WHERE id = $1"


async def timezone_of(conn: Connection, caller: Caller) -> str | None:
    timezone: str | None = await conn.fetchval(TIMEZONE, caller.studio_id)
    return timezone


TIMEZONES = "SELECT id, timezone FROM studios WHERE id = ANY ($1::uuid[]) AND timezone IS NOT NULL"


async def timezones_of(conn: Connection, studio_ids: set[str]) -> dict[str, str]:
    """For an import, whose lines may belong to several studios."""
    rows = await conn.fetch(TIMEZONES, list(studio_ids))
    return {str(row["id"]): row["timezone"] for row in rows}
