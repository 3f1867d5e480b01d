"""Bulk upserts of classes and their spots, one JSON parameter per batch.

`old` is the stored row: it fills in what a line leaves out and the wire does not show.
"""

from services.bookings.store.classes import WRITABLE, update_location
from services.bookings.store.import_locks import Lines
from shared.db.database import Connection

_SAME = [column for column in WRITABLE if column not in ("credit_cost", "waitlist_capacity")]
CLASSES = f"""
INSERT INTO classes (studio_id, id, {", ".join(_SAME)}, credit_cost, waitlist_capacity, version)
SELECT n.studio_id, n.id, {", ".join("n." + column for column in _SAME)},
    coalesce(n.credit_cost, old.credit_cost, 0),
    CASE WHEN line ? 'waitlist_capacity' THEN n.waitlist_capacity ELSE old.waitlist_capacity END,
    coalesce(n.version, 1)
FROM jsonb_array_elements($1) line CROSS JOIN LATERAL jsonb_populate_record(NULL::classes, line) n
LEFT JOIN classes old ON old.studio_id = n.studio_id AND old.id = n.id
ON CONFLICT (studio_id, id) DO UPDATE SET
    {", ".join(f"{column} = excluded.{column}" for column in WRITABLE)},
    version = greatest(excluded.version, classes.version + 1)
"""  # noqa: S608


async def write_classes(conn: Connection, lines: Lines) -> None:
    """Call it under the locks of the existing classes. Updates the location of their bookings too."""
    await conn.execute(CLASSES, lines)
    by_studio: dict[str, list[str]] = {}
    for line in lines:
        by_studio.setdefault(str(line["studio_id"]), []).append(str(line["id"]))
    for studio_id, class_ids in by_studio.items():
        await update_location(conn, studio_id, class_ids)


# No change may leave a free seat while someone waits.
TO_RECONCILE = """
SELECT DISTINCT c.studio_id, c.id
FROM unnest($1::uuid[], $2::uuid[]) AS line (studio_id, class_id)
JOIN classes c ON c.studio_id = line.studio_id AND c.id = line.class_id
WHERE c.status = 'scheduled' AND c.waitlist_count > 0 AND c.capacity > c.booked_count
   OR c.status = 'cancelled' AND c.booked_count + c.waitlist_count > 0
ORDER BY c.studio_id, c.id
"""


async def classes_to_reconcile(conn: Connection, classes: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Classes with free seats and a waitlist, and cancelled classes that still have bookings."""
    rows = await conn.fetch(TO_RECONCILE, [studio for studio, _ in classes], [id_ for _, id_ in classes])
    return [(row["studio_id"], row["id"]) for row in rows]


SPOTS = """
INSERT INTO class_spots (studio_id, id, class_id, label, sort_order)
SELECT studio_id, id, class_id, label, "order"
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, label text, "order" integer)
ON CONFLICT (studio_id, id) DO UPDATE SET
    class_id = excluded.class_id, label = excluded.label, sort_order = excluded.sort_order
"""


async def write_spots(conn: Connection, lines: Lines) -> None:
    await conn.execute(SPOTS, lines)
