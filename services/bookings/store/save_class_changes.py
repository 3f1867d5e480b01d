"""Saves all changes to a class in one statement: seats, waitlist, credits, receipts."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from services.bookings.rules.booking_facts import ClassFacts
from services.bookings.rules.cancellation import Terms
from services.bookings.store.bookings import BookingRow
from services.bookings.store.waitlist import WaitlistRow
from services.bookings.wire.bookings import CancellationReceipt
from services.bookings.wire.field_types import format_money
from shared.db.database import Connection
from shared.http.caller import Caller


class ReceiptRow(Terms, frozen=True, kw_only=True):
    id: str
    booking_id: str
    cancelled_at: datetime
    reason: str | None


class RescheduleRow(Terms, frozen=True, kw_only=True):
    id: str
    booking_id: str
    from_class_id: str
    created_at: datetime
    credits_charged: int


SAVE = """
WITH class AS (
    UPDATE classes SET status = $3, booked_count = $4, waitlist_count = $5, version = $6, held_count = $12
    WHERE studio_id = $1 AND id = $2
), booking AS (
    UPDATE bookings b SET status = n.status, class_id = n.class_id, location_id = n.location_id,
        class_spot_id = n.class_spot_id, version = n.version, credits_charged = n.credits_charged,
        promoted_at = n.promoted_at, updated_at = n.updated_at, held_until = n.held_until,
        only_held = n.only_held
    FROM jsonb_to_recordset($7) AS n (
        id uuid, status text, class_id uuid, location_id uuid, class_spot_id uuid, version int,
        credits_charged int, promoted_at timestamptz, updated_at timestamptz, held_until timestamptz,
        only_held boolean)
    WHERE b.studio_id = $1 AND b.id = n.id
), entry AS (
    UPDATE waitlist w SET position = n.position, status = n.status, version = n.version, updated_at = $10
    FROM jsonb_to_recordset($8) AS n (id uuid, position int, status text, version int)
    WHERE w.studio_id = $1 AND w.id = n.id
), credit AS (
    UPDATE members m SET credits = m.credits + n.change
    FROM jsonb_to_recordset($9) AS n (member_id uuid, change int)
    WHERE m.studio_id = $1 AND m.id = n.member_id
), move AS (
    INSERT INTO reschedules (studio_id, id, booking_id, from_class_id, created_at, credits_charged,
        late_cancel, free_cancel_until, late_fee_amount, late_fee_currency, late_fee_status,
        credits_forfeited, credits_restored)
    SELECT $1, n.id, n.booking_id, n.from_class_id, n.created_at, n.credits_charged, n.late_cancel,
        n.free_cancel_until, n.late_fee_amount, n.late_fee_currency, n.late_fee_status,
        n.credits_forfeited, n.credits_restored
    FROM jsonb_populate_recordset(NULL::reschedules, $13) n
)
INSERT INTO cancellations (studio_id, id, booking_id, cancelled_at, reason, late_cancel, free_cancel_until,
    late_fee_amount, late_fee_currency, late_fee_status, credits_forfeited, credits_restored)
SELECT $1, n.id, n.booking_id, n.cancelled_at, n.reason, n.late_cancel, n.free_cancel_until,
    n.late_fee_amount, n.late_fee_currency, n.late_fee_status, n.credits_forfeited, n.credits_restored
FROM jsonb_to_recordset($11) AS n (id uuid, booking_id uuid, cancelled_at timestamptz, reason text,
    late_cancel boolean, free_cancel_until timestamptz, late_fee_amount numeric, late_fee_currency text,
    late_fee_status text, credits_forfeited int, credits_restored int)
"""


async def save(
    conn: Connection,
    caller: Caller,
    class_: ClassFacts,
    *,
    now: datetime,
    bookings: list[BookingRow],
    entries: list[WaitlistRow],
    credits: Mapping[str, int],
    receipts: list[ReceiptRow],
    moves: list[RescheduleRow],
) -> None:
    await conn.execute(
        SAVE,
        caller.studio_id,
        class_.id,
        class_.status,
        class_.booked_count,
        class_.waitlist_count,
        class_.version,
        bookings,
        entries,
        [{"member_id": member_id, "change": change} for member_id, change in credits.items()],
        now,
        receipts,
        class_.held_count,
        moves,
    )


def build_receipt(row: ReceiptRow, booking: BookingRow) -> CancellationReceipt:
    derived = {
        "id": row.id or None,
        "class_id": booking.class_id,
        "member_id": booking.member_id,
        "late_fee_amount": format_money(row.late_fee_amount),
        "credit_forfeited": row.credits_forfeited > 0,
    }
    return CancellationReceipt(**msgspec.structs.asdict(row) | derived)


READ_RECEIPTS = """
SELECT c.id, c.booking_id, b.class_id, b.member_id, c.cancelled_at, c.reason, c.late_cancel,
       c.free_cancel_until, c.late_fee_amount, c.late_fee_currency, c.late_fee_status,
       c.credits_forfeited > 0 AS credit_forfeited, c.credits_forfeited, c.credits_restored
FROM cancellations c JOIN bookings b ON b.studio_id = c.studio_id AND b.id = c.booking_id
WHERE c.studio_id = $1 AND c.booking_id = ANY ($2::uuid[])
"""


async def receipts_of(
    conn: Connection, caller: Caller, booking_ids: Sequence[str]
) -> dict[str, CancellationReceipt]:
    """By booking. There is none for a booking that was imported as cancelled."""
    rows = [dict(row) for row in await conn.fetch(READ_RECEIPTS, caller.studio_id, booking_ids)]
    for row in rows:
        row["late_fee_amount"] = format_money(row["late_fee_amount"])
    return {row["booking_id"]: CancellationReceipt(**row) for row in rows}


async def read_receipt(conn: Connection, caller: Caller, booking_id: str) -> CancellationReceipt | None:
    return (await receipts_of(conn, caller, [booking_id])).get(booking_id)
