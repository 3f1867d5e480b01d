"""Bulk upserts of what other services own and bookings keeps a copy of: studios, locations, products."""

from services.bookings.store.import_locks import Lines
from shared.db.database import Connection

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
WHERE studios IS DISTINCT FROM excluded
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
