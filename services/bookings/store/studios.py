"""This service's copy of a studio, as last imported."""

import msgspec

from services.bookings.rules.cancellation import Policy
from shared.db.database import Connection
from shared.http.caller import Caller

POLICY = """
SELECT late_window_minutes, late_fee_amount, late_fee_currency, forfeit_credit FROM studios WHERE id = $1
"""


async def policy(conn: Connection, caller: Caller) -> Policy:
    row = await conn.fetchrow(POLICY, caller.studio_id)
    return msgspec.convert(dict(row), Policy) if row else Policy()


TIMEZONE = "SELECT timezone FROM studios WHERE id = $1"


async def timezone_of(conn: Connection, caller: Caller) -> str | None:
    timezone: str | None = await conn.fetchval(TIMEZONE, caller.studio_id)
    return timezone


TIMEZONES = "SELECT id, timezone FROM studios WHERE id = ANY ($1::uuid[]) AND timezone IS NOT NULL"


async def timezones_of(conn: Connection, studio_ids: set[str]) -> dict[str, str]:
    """For an import, whose lines may belong to several studios."""
    rows = await conn.fetch(TIMEZONES, list(studio_ids))
    return {str(row["id"]): row["timezone"] for row in rows}


KNOWS_LOCATION = "SELECT EXISTS (SELECT FROM locations WHERE studio_id = $1 AND id = $2)"


async def knows_location(conn: Connection, caller: Caller, location_id: str) -> bool:
    return caller.may_see(location_id) and bool(
        await conn.fetchval(KNOWS_LOCATION, caller.studio_id, location_id)
    )
