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


KNOWS_LOCATION = "SELECT EXISTS (SELECT FROM locations WHERE studio_id = $1 AND id = $2)"


async def knows_location(conn: Connection, caller: Caller, location_id: str) -> bool:
    return caller.may_see(location_id) and bool(
        await conn.fetchval(KNOWS_LOCATION, caller.studio_id, location_id)
    )
