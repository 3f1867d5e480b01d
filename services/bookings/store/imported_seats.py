"""Bulk upserts of bookings and waitlist entries, under their classes' locks.

The two are one pair: a waiting entry has a waitlisted booking and the other way round. Lines of a pair may
come in any order and in different batches, so a placeholder stands in for the missing half until then.
"""

from services.bookings.store.imported import Lines
from shared.database import Connection

DROP_PLACEHOLDER_BOOKINGS = (
    """
UPDATE waitlist w SET booking_id = NULL
FROM bookings b, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid)
WHERE b.placeholder AND b.studio_id = line.studio_id AND b.class_id = line.class_id
  AND b.member_id = line.member_id AND b.id <> line.id AND w.studio_id = b.studio_id AND w.booking_id = b.id
""",
    """
DELETE FROM bookings b
USING jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid)
WHERE b.placeholder AND b.studio_id = line.studio_id AND b.class_id = line.class_id
  AND b.member_id = line.member_id AND b.id <> line.id
""",
)
BOOKINGS = """
INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, booking_source, class_spot_id,
    created_at, updated_at)
SELECT n.studio_id, n.id, n.class_id, n.member_id, c.location_id, n.status, n.booking_source, n.class_spot_id,
    coalesce(n.created_at, old.created_at, clock_timestamp()),
    coalesce(n.updated_at, n.created_at, clock_timestamp())
FROM jsonb_populate_recordset(NULL::bookings, $1) n
LEFT JOIN bookings old ON old.studio_id = n.studio_id AND old.id = n.id
LEFT JOIN classes c ON c.studio_id = n.studio_id AND c.id = n.class_id
ON CONFLICT (studio_id, id) DO UPDATE SET
    class_id = same_class_and_member(
        (bookings.class_id, bookings.member_id) = (excluded.class_id, excluded.member_id), excluded.class_id),
    status = excluded.status, booking_source = excluded.booking_source,
    class_spot_id = excluded.class_spot_id, placeholder = false, created_at = excluded.created_at,
    updated_at = excluded.updated_at, version = bookings.version + 1
"""
# An entry follows its booking out of the queue, also where no line of its own says so.
ENTRIES_FOLLOW = """
UPDATE waitlist w SET version = w.version + 1, updated_at = clock_timestamp(), status = CASE b.status
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
    for statement in (*DROP_PLACEHOLDER_BOOKINGS, BOOKINGS, ENTRIES_FOLLOW, ADD_ENTRIES):
        await conn.execute(statement, lines)
    await _settle(conn, lines)


DROP_PLACEHOLDER_ENTRIES = """
DELETE FROM waitlist w
USING jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid)
WHERE w.placeholder AND w.studio_id = line.studio_id AND w.class_id = line.class_id
  AND w.member_id = line.member_id AND w.id <> line.id
"""
ENTRIES = """
INSERT INTO waitlist (studio_id, id, class_id, member_id, location_id, position, status, imported_as,
    created_at, updated_at)
SELECT n.studio_id, n.id, n.class_id, n.member_id, c.location_id, n.position, n.status, n.position,
    coalesce(n.created_at, old.created_at, clock_timestamp()), clock_timestamp()
FROM jsonb_populate_recordset(NULL::waitlist, $1) n
LEFT JOIN waitlist old ON old.studio_id = n.studio_id AND old.id = n.id
LEFT JOIN classes c ON c.studio_id = n.studio_id AND c.id = n.class_id
ON CONFLICT (studio_id, id) DO UPDATE SET
    class_id = same_class_and_member(
        (waitlist.class_id, waitlist.member_id) = (excluded.class_id, excluded.member_id), excluded.class_id),
    position = excluded.position, status = excluded.status, placeholder = false,
    imported_as = excluded.imported_as,
    created_at = excluded.created_at, updated_at = excluded.updated_at, version = waitlist.version + 1
"""
BOOKINGS_FOLLOW = """
UPDATE bookings b SET version = b.version + 1, updated_at = clock_timestamp(), status = CASE w.status
    WHEN 'converted' THEN 'confirmed' WHEN 'expired' THEN 'expired' ELSE 'cancelled' END
FROM waitlist w, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid)
WHERE w.studio_id = line.studio_id AND w.id = line.id AND w.status <> 'waiting'
  AND b.studio_id = w.studio_id AND b.id = w.booking_id AND b.status = 'waitlisted'
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
    await _settle(conn, lines)


# Positions of the lines may clash with each other or with those there; they are checked once they are dense.
DEFER = "SET CONSTRAINTS waitlist_one_per_position DEFERRED"
CHECK_NOW = "SET CONSTRAINTS waitlist_one_per_position IMMEDIATE"
SETTLE = (
    """
UPDATE waitlist w SET booking_id = b.id
FROM bookings b, jsonb_to_recordset($1) AS line (studio_id uuid, class_id uuid)
WHERE w.studio_id = line.studio_id AND w.class_id = line.class_id AND w.status = 'waiting'
  AND b.studio_id = w.studio_id AND b.class_id = w.class_id AND b.member_id = w.member_id
  AND b.status = 'waitlisted' AND w.booking_id IS DISTINCT FROM b.id
""",
    """
UPDATE waitlist w SET position = dense.position
FROM (SELECT w.studio_id, w.id, row_number() OVER (
          PARTITION BY w.studio_id, w.class_id
          ORDER BY w.imported_as NULLS LAST, w.position, w.created_at, w.id) AS position
      FROM waitlist w
      WHERE w.status = 'waiting' AND (w.studio_id, w.class_id) IN (
          SELECT studio_id, class_id FROM jsonb_to_recordset($1) AS line (studio_id uuid, class_id uuid))
     ) dense
WHERE w.studio_id = dense.studio_id AND w.id = dense.id AND w.position <> dense.position
""",
    """
UPDATE classes c SET version = c.version + 1,
    booked_count = (SELECT count(*) FROM bookings b WHERE b.studio_id = c.studio_id AND b.class_id = c.id
        AND b.status IN ('confirmed', 'checked_in')),
    waitlist_count = (SELECT count(*) FROM waitlist w WHERE w.studio_id = c.studio_id AND w.class_id = c.id
        AND w.status = 'waiting')
WHERE (c.studio_id, c.id) IN (
    SELECT studio_id, class_id FROM jsonb_to_recordset($1) AS line (studio_id uuid, class_id uuid))
""",
)


async def _settle(conn: Connection, lines: Lines) -> None:
    """Pairs linked, positions dense, counters counted."""
    for statement in SETTLE:
        await conn.execute(statement, lines)
    await conn.execute(CHECK_NOW)
