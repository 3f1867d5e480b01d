"""Bulk upserts of the lines that stand alone: copies, classes, spots. One JSON parameter a batch.

`old` is the row that is there already: what a line leaves out and the wire does not show is taken from it.
"""

from services.bookings.store.classes import WRITABLE, move_along
from shared.db.database import Connection

Lines = list[dict[str, object]]

STUDIOS = """
INSERT INTO studios (id, timezone, late_window_minutes, late_fee_amount, late_fee_currency, forfeit_credit)
SELECT n.id, n.timezone, coalesce(n.late_window_minutes, old.late_window_minutes, 720),
    CASE WHEN line ? 'late_fee_amount' THEN n.late_fee_amount ELSE old.late_fee_amount END,
    CASE WHEN line ? 'late_fee_currency' THEN n.late_fee_currency ELSE old.late_fee_currency END,
    coalesce(n.forfeit_credit, old.forfeit_credit, false)
FROM jsonb_array_elements($1) line CROSS JOIN LATERAL jsonb_populate_record(NULL::studios, line) n
LEFT JOIN studios old ON old.id = n.id
ON CONFLICT (id) DO UPDATE SET
    timezone = excluded.timezone, late_window_minutes = excluded.late_window_minutes,
    late_fee_amount = excluded.late_fee_amount,
    late_fee_currency = excluded.late_fee_currency, forfeit_credit = excluded.forfeit_credit
"""


async def write_studios(conn: Connection, lines: Lines) -> None:
    await conn.execute(STUDIOS, lines)


LOCATIONS = """
INSERT INTO locations (studio_id, id)
SELECT studio_id, id FROM jsonb_populate_recordset(NULL::locations, $1)
ON CONFLICT DO NOTHING
"""


async def write_locations(conn: Connection, lines: Lines) -> None:
    await conn.execute(LOCATIONS, lines)


PRODUCTS = """
INSERT INTO products (studio_id, id, key, product_type, credits_granted)
SELECT studio_id, id, key, product_type, credits_granted FROM jsonb_populate_recordset(NULL::products, $1)
ON CONFLICT (studio_id, id) DO UPDATE SET
    key = excluded.key, product_type = excluded.product_type, credits_granted = excluded.credits_granted
"""


async def write_products(conn: Connection, lines: Lines) -> None:
    await conn.execute(PRODUCTS, lines)


_SAME = [column for column in WRITABLE if column not in ("credit_cost", "waitlist_capacity")]
CLASSES = f"""
INSERT INTO classes (studio_id, id, {", ".join(_SAME)}, credit_cost, waitlist_capacity)
SELECT n.studio_id, n.id, {", ".join("n." + column for column in _SAME)},
    coalesce(n.credit_cost, old.credit_cost, 0),
    CASE WHEN line ? 'waitlist_capacity' THEN n.waitlist_capacity ELSE old.waitlist_capacity END
FROM jsonb_array_elements($1) line CROSS JOIN LATERAL jsonb_populate_record(NULL::classes, line) n
LEFT JOIN classes old ON old.studio_id = n.studio_id AND old.id = n.id
ON CONFLICT (studio_id, id) DO UPDATE SET
    {", ".join(f"{column} = excluded.{column}" for column in WRITABLE)}, version = classes.version + 1,
    promotion_due = classes.promotion_due
        OR excluded.capacity > classes.capacity AND classes.waitlist_count > 0
"""  # noqa: S608


async def write_classes(conn: Connection, lines: Lines) -> None:
    """Under the locks of those that are there already. Their bookings move along with them."""
    await conn.execute(CLASSES, lines)
    by_studio: dict[str, list[str]] = {}
    for line in lines:
        by_studio.setdefault(str(line["studio_id"]), []).append(str(line["id"]))
    for studio_id, class_ids in by_studio.items():
        await move_along(conn, studio_id, class_ids)


TO_FOLLOW_UP = """
SELECT c.studio_id, c.id
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid)
JOIN classes c ON c.studio_id = line.studio_id AND c.id = line.id
WHERE c.promotion_due OR c.status = 'cancelled' AND c.booked_count + c.waitlist_count > 0
ORDER BY c.studio_id, c.id
"""


async def classes_to_follow_up(conn: Connection, lines: Lines) -> list[tuple[str, str]]:
    """Those with new seats for who waits, and cancelled ones that still hold somebody."""
    return [(row["studio_id"], row["id"]) for row in await conn.fetch(TO_FOLLOW_UP, lines)]


PROMOTED = "UPDATE classes SET promotion_due = false WHERE studio_id = $1 AND id = $2"


async def mark_promoted(conn: Connection, studio_id: str, class_id: str) -> None:
    await conn.execute(PROMOTED, studio_id, class_id)


SPOTS = """
INSERT INTO class_spots (studio_id, id, class_id, label, sort_order)
SELECT studio_id, id, class_id, label, "order"
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, label text, "order" integer)
ON CONFLICT (studio_id, id) DO UPDATE SET
    class_id = excluded.class_id, label = excluded.label, sort_order = excluded.sort_order
"""


async def write_spots(conn: Connection, lines: Lines) -> None:
    await conn.execute(SPOTS, lines)


LOCK_CLASSES = """
SELECT 1 FROM classes c
WHERE (c.studio_id, c.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) ORDER BY c.studio_id, c.id
FOR NO KEY UPDATE
"""
LOCK_MEMBERS = """
SELECT 1 FROM members m
WHERE (m.studio_id, m.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) ORDER BY m.studio_id, m.id
FOR NO KEY UPDATE
"""


async def lock_rows(conn: Connection, statement: str, rows: set[tuple[str, str]]) -> None:
    await conn.execute(statement, [studio for studio, _ in rows], [row_id for _, row_id in rows])
