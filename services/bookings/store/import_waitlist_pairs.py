"""Keeps pairs intact: a waiting entry has exactly one waitlisted booking, and vice versa, after every import.

The two lines of a pair may come in any order and in different batches, so a placeholder stands in for the
missing half until its line arrives. A placeholder that has left the waitlist is an ordinary booking or entry.
"""

from services.bookings.store.import_locks import Lines
from shared.db.database import Connection

# Imported positions may clash with each other or with stored ones, so they are checked after renumbering.
DEFER = "SET CONSTRAINTS waitlist_one_per_position DEFERRED"
CHECK_NOW = "SET CONSTRAINTS waitlist_one_per_position IMMEDIATE"
# A line with a version comes from an export: it has the current position of its entry, and the class's own
# line has the version that includes it.
SETTLE = (
    """
UPDATE waitlist w SET booking_id = b.id
FROM bookings b, jsonb_to_recordset($1) AS line (studio_id uuid, class_id uuid)
WHERE w.studio_id = line.studio_id AND w.class_id = line.class_id AND w.status = 'waiting'
  AND b.studio_id = w.studio_id AND b.class_id = w.class_id AND b.member_id = w.member_id
  AND b.status = 'waitlisted' AND w.booking_id IS DISTINCT FROM b.id
""",
    """
UPDATE waitlist w SET position = dense.position, version = w.version + 1
FROM (SELECT w.studio_id, w.id, row_number() OVER (
          PARTITION BY w.studio_id, w.class_id
          ORDER BY CASE WHEN line.exported AND NOT w.placeholder THEN w.position ELSE w.imported_as END
              NULLS LAST, w.position, w.created_at, w.id) AS position
      FROM waitlist w
      JOIN (SELECT studio_id, class_id, bool_and(version IS NOT NULL) AS exported
            FROM jsonb_to_recordset($1) AS line (studio_id uuid, class_id uuid, version integer)
            GROUP BY studio_id, class_id) line
        ON line.studio_id = w.studio_id AND line.class_id = w.class_id
      WHERE w.status = 'waiting') dense
WHERE w.studio_id = dense.studio_id AND w.id = dense.id AND w.position <> dense.position
""",
    """
UPDATE classes c SET version = c.version + line.raised,
    booked_count = (SELECT count(*) FROM bookings b WHERE b.studio_id = c.studio_id AND b.class_id = c.id
        AND b.status IN ('confirmed', 'checked_in')),
    waitlist_count = (SELECT count(*) FROM waitlist w WHERE w.studio_id = c.studio_id AND w.class_id = c.id
        AND w.status = 'waiting')
FROM (SELECT studio_id, class_id, bool_or(version IS NULL)::integer AS raised
      FROM jsonb_to_recordset($1) AS line (studio_id uuid, class_id uuid, version integer)
      GROUP BY studio_id, class_id) line
WHERE c.studio_id = line.studio_id AND c.id = line.class_id
""",
)
# A last check: a line that would leave half a pair is refused. The rest of the service relies on pairs.
REFUSE_HALVES = """
SELECT refuse_line('The line would part a waitlist entry from its booking.')
FROM (SELECT DISTINCT studio_id, class_id
      FROM jsonb_to_recordset($1) AS line (studio_id uuid, class_id uuid)) line
WHERE EXISTS (
    SELECT FROM waitlist w LEFT JOIN bookings b
        ON b.studio_id = w.studio_id AND b.id = w.booking_id AND b.status = 'waitlisted'
    WHERE w.studio_id = line.studio_id AND w.class_id = line.class_id AND w.status = 'waiting'
      AND b.id IS NULL)
OR EXISTS (
    SELECT FROM bookings b LEFT JOIN waitlist w
        ON w.studio_id = b.studio_id AND w.booking_id = b.id AND w.status = 'waiting'
    WHERE b.studio_id = line.studio_id AND b.class_id = line.class_id AND b.status = 'waitlisted'
      AND w.id IS NULL)
"""


async def settle(conn: Connection, lines: Lines) -> None:
    """Links the pairs, renumbers the positions and recounts the counters."""
    for statement in (*SETTLE, REFUSE_HALVES):
        await conn.execute(statement, lines)
    await conn.execute(CHECK_NOW)
