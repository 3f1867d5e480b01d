"""Bulk upserts of bookings, under the locks of their classes; see store/import_waitlist_pairs.py.

A booking keeps its class and its member: rules/import_refusals.py refuses other lines.
"""

from services.bookings.store.import_locks import Lines
from services.bookings.store.import_waitlist_pairs import DEFER, settle
from shared.db.database import Connection

# Only a live line replaces a placeholder: an older booking of the member says nothing about who waits now.
DROP_PLACEHOLDER_BOOKINGS = (
    """
UPDATE waitlist w SET booking_id = NULL
FROM bookings b, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid,
    status text)
WHERE line.status IN ('waitlisted', 'confirmed', 'checked_in') AND b.placeholder
  AND b.studio_id = line.studio_id AND b.class_id = line.class_id AND b.member_id = line.member_id
  AND b.id <> line.id AND w.studio_id = b.studio_id AND w.booking_id = b.id
""",
    """
DELETE FROM bookings b
USING jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid, status text)
WHERE line.status IN ('waitlisted', 'confirmed', 'checked_in') AND b.placeholder
  AND b.studio_id = line.studio_id AND b.class_id = line.class_id AND b.member_id = line.member_id
  AND b.id <> line.id
""",
)
# A booking that a line ends gives its credits back, without a receipt: only what was cancelled here has one.
GIVE_BACK = """
UPDATE members m SET credits = m.credits + back.credits
FROM (SELECT b.studio_id, b.member_id, sum(b.credits_charged) AS credits
      FROM bookings b, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, status text)
      WHERE b.studio_id = line.studio_id AND b.id = line.id AND b.credits_charged > 0
        AND b.status NOT IN ('cancelled', 'expired') AND line.status IN ('cancelled', 'expired')
      GROUP BY b.studio_id, b.member_id) back
WHERE m.studio_id = back.studio_id AND m.id = back.member_id
"""
BOOKINGS = """
INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, booking_source, class_spot_id,
    created_at, updated_at, credits_charged, promoted_at, version)
SELECT n.studio_id, n.id, n.class_id, n.member_id, c.location_id, n.status, n.booking_source, n.class_spot_id,
    coalesce(n.created_at, old.created_at, clock_timestamp()),
    coalesce(n.updated_at, n.created_at, clock_timestamp()), coalesce(n.credits_charged, 0), n.promoted_at,
    coalesce(n.version, 1)
FROM jsonb_populate_recordset(NULL::bookings, $1) n
LEFT JOIN bookings old ON old.studio_id = n.studio_id AND old.id = n.id
LEFT JOIN classes c ON c.studio_id = n.studio_id AND c.id = n.class_id
ON CONFLICT (studio_id, id) DO UPDATE SET
    credits_charged = CASE WHEN bookings.status NOT IN ('cancelled', 'expired')
        AND excluded.status IN ('cancelled', 'expired') THEN 0 ELSE bookings.credits_charged END,
    status = excluded.status, booking_source = excluded.booking_source,
    class_spot_id = excluded.class_spot_id, placeholder = false, created_at = excluded.created_at,
    updated_at = excluded.updated_at, version = greatest(excluded.version, bookings.version + 1)
"""
# A receipt is issued once: an existing one stays unchanged.
RECEIPTS = """
INSERT INTO cancellations (studio_id, id, booking_id, cancelled_at, reason, late_cancel, free_cancel_until,
    late_fee_amount, late_fee_currency, late_fee_status, credits_forfeited, credits_restored)
SELECT line.studio_id, n.id, line.id, n.cancelled_at, n.reason, n.late_cancel, n.free_cancel_until,
    n.late_fee_amount, n.late_fee_currency, n.late_fee_status, n.credits_forfeited, n.credits_restored
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, cancellation jsonb)
CROSS JOIN LATERAL jsonb_populate_record(NULL::cancellations, line.cancellation) n
WHERE n.id IS NOT NULL
ON CONFLICT ON CONSTRAINT cancellations_one_per_booking DO NOTHING
"""
LINK_TO_LINE = """
UPDATE waitlist w SET booking_id = b.id
FROM bookings b, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid)
WHERE b.studio_id = line.studio_id AND b.id = line.id
  AND b.status IN ('waitlisted', 'confirmed', 'checked_in') AND w.studio_id = b.studio_id
  AND w.class_id = b.class_id AND w.member_id = b.member_id AND w.status = 'waiting' AND w.booking_id IS NULL
"""
# An entry leaves the waitlist with its booking, even if no line of its own says so.
ENTRIES_FOLLOW = """
UPDATE waitlist w SET version = w.version + 1, placeholder = false, updated_at = clock_timestamp(),
    status = CASE b.status
    WHEN 'cancelled' THEN 'cancelled' WHEN 'expired' THEN 'expired' ELSE 'converted' END
FROM bookings b, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid)
WHERE b.studio_id = line.studio_id AND b.id = line.id AND b.status <> 'waitlisted'
  AND w.studio_id = b.studio_id AND w.booking_id = b.id AND w.status = 'waiting'
"""
ADD_ENTRIES = """
INSERT INTO waitlist (studio_id, id, class_id, member_id, booking_id, location_id, position, status,
    placeholder, imported_as, created_at, updated_at)
SELECT b.studio_id, gen_random_uuid(), b.class_id, b.member_id, b.id, b.location_id,
    coalesce(line.waitlist_position, 1000000), 'waiting', true, line.waitlist_position,
    b.created_at, b.updated_at
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, waitlist_position integer)
JOIN bookings b ON b.studio_id = line.studio_id AND b.id = line.id
WHERE b.status = 'waitlisted' AND NOT EXISTS (
    SELECT FROM waitlist w WHERE w.studio_id = b.studio_id AND w.class_id = b.class_id
      AND w.member_id = b.member_id AND w.status = 'waiting')
"""


async def write_bookings(conn: Connection, lines: Lines) -> None:
    await conn.execute(DEFER)
    for statement in (*DROP_PLACEHOLDER_BOOKINGS, GIVE_BACK, BOOKINGS, RECEIPTS):
        await conn.execute(statement, lines)
    for statement in (LINK_TO_LINE, ENTRIES_FOLLOW, ADD_ENTRIES):
        await conn.execute(statement, lines)
    await settle(conn, lines)
