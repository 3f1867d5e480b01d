"""Bulk upserts of waitlist entries, under their classes' locks; see store/import_waitlist_pairs.py."""

from services.bookings.store.import_locks import Lines
from services.bookings.store.import_waitlist_pairs import DEFER, settle
from shared.db.database import Connection

DROP_PLACEHOLDER_ENTRIES = """
DELETE FROM waitlist w
USING jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid, status text)
WHERE line.status = 'waiting' AND w.placeholder AND w.studio_id = line.studio_id
  AND w.class_id = line.class_id AND w.member_id = line.member_id AND w.id <> line.id
"""
ENTRIES = """
INSERT INTO waitlist (studio_id, id, class_id, member_id, booking_id, location_id, position, status,
    imported_as, created_at, updated_at, version)
SELECT n.studio_id, n.id, n.class_id, n.member_id, n.booking_id, c.location_id, n.position, n.status,
    n.position, coalesce(n.created_at, old.created_at, clock_timestamp()),
    coalesce(n.updated_at, clock_timestamp()), coalesce(n.version, 1)
FROM jsonb_populate_recordset(NULL::waitlist, $1) n
LEFT JOIN waitlist old ON old.studio_id = n.studio_id AND old.id = n.id
LEFT JOIN classes c ON c.studio_id = n.studio_id AND c.id = n.class_id
ON CONFLICT (studio_id, id) DO UPDATE SET
    position = excluded.position, status = excluded.status, placeholder = false,
    imported_as = excluded.imported_as,
    created_at = excluded.created_at, updated_at = excluded.updated_at,
    version = greatest(excluded.version, waitlist.version + (
        (waitlist.position, waitlist.status) <> (excluded.position, excluded.status))::int)
"""
BOOKINGS_FOLLOW = """
UPDATE bookings b SET version = b.version + 1, placeholder = false, updated_at = clock_timestamp(),
    status = CASE w.status
    WHEN 'converted' THEN 'confirmed' WHEN 'expired' THEN 'expired' ELSE 'cancelled' END
FROM waitlist w, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid)
WHERE w.studio_id = line.studio_id AND w.id = line.id AND w.status <> 'waiting'
  AND b.studio_id = w.studio_id AND b.id = w.booking_id AND b.status = 'waitlisted'
  AND NOT EXISTS (SELECT FROM waitlist other WHERE other.studio_id = b.studio_id
                  AND other.booking_id = b.id AND other.status = 'waiting')
"""
ADD_BOOKINGS = """
INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, placeholder, created_at,
    updated_at)
SELECT w.studio_id, gen_random_uuid(), w.class_id, w.member_id, w.location_id, 'waitlisted', true,
    w.created_at, w.updated_at
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid)
JOIN waitlist w ON w.studio_id = line.studio_id AND w.id = line.id
WHERE w.status = 'waiting' AND NOT EXISTS (
    SELECT FROM bookings b WHERE b.studio_id = w.studio_id AND b.class_id = w.class_id
      AND b.member_id = w.member_id AND b.status = 'waitlisted')
"""


async def write_entries(conn: Connection, lines: Lines) -> None:
    await conn.execute(DEFER)
    for statement in (DROP_PLACEHOLDER_ENTRIES, ENTRIES, BOOKINGS_FOLLOW, ADD_BOOKINGS):
        await conn.execute(statement, lines)
    await settle(conn, lines)
