"""Cancellation receipts."""

from services.bookings.wire.bookings import CancellationReceipt
from services.bookings.wire.money import format_money
from shared.db.database import Connection
from shared.http.caller import Caller

READ = """
SELECT c.id, c.booking_id, b.class_id, b.member_id, c.cancelled_at, c.reason, c.late_cancel,
       c.free_cancel_until, c.late_fee_amount, c.late_fee_currency, c.late_fee_status,
       c.credits_forfeited > 0 AS credit_forfeited, c.credits_forfeited, c.credits_restored
FROM cancellations c JOIN bookings b ON b.studio_id = c.studio_id AND b.id = c.booking_id
WHERE c.studio_id = $1 AND c.booking_id = $2
"""


async def read(conn: Connection, caller: Caller, booking_id: str) -> CancellationReceipt | None:
    """None for a booking that was imported as cancelled."""
    row = await conn.fetchrow(READ, caller.studio_id, booking_id)
    if row is None:
        return None
    values = dict(row)
    values["late_fee_amount"] = format_money(values["late_fee_amount"])
    return CancellationReceipt(**values)
