"""Bulk upserts of members, memberships and purchases, and of the copies of studios, locations and products.

`old` is the stored row: it fills in what a line leaves out and the wire does not show.
"""

from services.bookings.store.import_checks import LOCK_MEMBERS, lock_rows
from services.bookings.store.purchases import grant_credits
from shared.db.database import Connection
from shared.transfer.importing import Rows

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


async def write_studios(conn: Connection, rows: Rows) -> None:
    await conn.execute(STUDIOS, rows)


LOCATIONS = """
INSERT INTO locations (studio_id, id)
SELECT studio_id, id FROM jsonb_populate_recordset(NULL::locations, $1)
ON CONFLICT DO NOTHING
"""


async def write_locations(conn: Connection, rows: Rows) -> None:
    await conn.execute(LOCATIONS, rows)


PRODUCTS = """
INSERT INTO products (studio_id, id, key, product_type, credits_granted)
SELECT studio_id, id, key, product_type, credits_granted FROM jsonb_populate_recordset(NULL::products, $1)
ON CONFLICT (studio_id, id) DO UPDATE SET
    key = excluded.key, product_type = excluded.product_type, credits_granted = excluded.credits_granted
"""


# A product may be imported after the purchases that refer to it.
WAITING_FOR_PRODUCT = """
SELECT DISTINCT p.studio_id, p.member_id
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, key text)
JOIN purchases p ON p.studio_id = line.studio_id AND p.status = 'completed' AND p.credits_granted IS NULL
    AND (p.product_id = line.id OR p.product_id IS NULL AND p.product_key = line.key)
"""


async def write_products(conn: Connection, rows: Rows) -> None:
    await conn.execute(PRODUCTS, rows)
    waiting = [(row["studio_id"], row["member_id"]) for row in await conn.fetch(WAITING_FOR_PRODUCT, rows)]
    await lock_rows(conn, LOCK_MEMBERS, set(waiting))
    for studio_id in {studio for studio, _ in waiting}:
        await grant_credits(conn, studio_id, [member for studio, member in waiting if studio == studio_id])


# `credits` apply to a new member only; the balance of an existing one is not overwritten.
MEMBERS = """
INSERT INTO members (studio_id, id, name, first_name, last_name, email, role, membership_type,
    membership_start_date, membership_end_date, phone, suspended, created_at, credits, version)
SELECT n.studio_id, n.id, n.name, n.first_name, n.last_name, n.email, n.role, n.membership_type,
    n.membership_start_date, n.membership_end_date,
    CASE WHEN line ? 'phone' THEN n.phone ELSE old.phone END,
    coalesce(n.suspended, old.suspended, false), coalesce(n.created_at, old.created_at, clock_timestamp()),
    coalesce(n.credits, 0), coalesce(n.version, 1)
FROM jsonb_array_elements($1) line CROSS JOIN LATERAL jsonb_populate_record(NULL::members, line) n
LEFT JOIN members old ON old.studio_id = n.studio_id AND old.id = n.id
ON CONFLICT (studio_id, id) DO UPDATE SET
    name = excluded.name, first_name = excluded.first_name, last_name = excluded.last_name,
    email = excluded.email, role = excluded.role, membership_type = excluded.membership_type,
    membership_start_date = excluded.membership_start_date,
    membership_end_date = excluded.membership_end_date, phone = excluded.phone,
    suspended = excluded.suspended, created_at = excluded.created_at,
    version = greatest(excluded.version, members.version + 1)
"""


async def write_members(conn: Connection, rows: Rows) -> None:
    await conn.execute(MEMBERS, rows)


# `state_version` never decreases, and increases with every change, whatever the line says.
MEMBERSHIPS = """
INSERT INTO memberships (studio_id, id, member_id, product_id, status, auto_renew, state_version, pause,
    cancellation, starts_at, ends_at, created_at)
SELECT n.studio_id, n.id, n.member_id, n.product_id, n.status, n.auto_renew, n.state_version,
    nullif(n.pause, 'null'), nullif(n.cancellation, 'null'),
    CASE WHEN line ? 'starts_at' THEN n.starts_at ELSE old.starts_at END,
    CASE WHEN line ? 'ends_at' THEN n.ends_at ELSE old.ends_at END,
    coalesce(n.created_at, old.created_at, clock_timestamp())
FROM jsonb_array_elements($1) line CROSS JOIN LATERAL jsonb_populate_record(NULL::memberships, line) n
LEFT JOIN memberships old ON old.studio_id = n.studio_id AND old.id = n.id
ON CONFLICT (studio_id, id) DO UPDATE SET
    product_id = excluded.product_id,
    status = excluded.status, auto_renew = excluded.auto_renew, pause = excluded.pause,
    cancellation = excluded.cancellation, starts_at = excluded.starts_at, ends_at = excluded.ends_at,
    created_at = excluded.created_at,
    state_version = greatest(excluded.state_version, memberships.state_version + (
        (memberships.product_id, memberships.status, memberships.auto_renew, memberships.pause,
         memberships.cancellation, memberships.starts_at, memberships.ends_at)
        IS DISTINCT FROM (excluded.product_id, excluded.status, excluded.auto_renew, excluded.pause,
         excluded.cancellation, excluded.starts_at, excluded.ends_at))::int)
"""


async def write_memberships(conn: Connection, rows: Rows) -> None:
    await conn.execute(MEMBERSHIPS, rows)


# `credits_granted` stays: credits are granted once, however often the purchase is imported.
PURCHASES = """
INSERT INTO purchases (studio_id, id, member_id, product_id, product_key, product_type, quantity,
    amount_total, currency, refunded_amount, status, location_id, created_at, credits_granted,
    version)
SELECT n.studio_id, n.id, n.member_id, n.product_id, n.product_key, n.product_type, n.quantity,
    n.amount_total, n.currency, n.refunded_amount, n.status,
    CASE WHEN line ? 'location_id' THEN n.location_id ELSE old.location_id END,
    coalesce(n.created_at, old.created_at, clock_timestamp()), n.credits_granted,
    coalesce(n.version, 1)
FROM jsonb_array_elements($1) line CROSS JOIN LATERAL jsonb_populate_record(NULL::purchases, line) n
LEFT JOIN purchases old ON old.studio_id = n.studio_id AND old.id = n.id
ON CONFLICT (studio_id, id) DO UPDATE SET
    product_id = excluded.product_id,
    product_key = excluded.product_key, product_type = excluded.product_type,
    quantity = excluded.quantity, amount_total = excluded.amount_total,
    currency = excluded.currency, refunded_amount = excluded.refunded_amount, status = excluded.status,
    location_id = excluded.location_id, created_at = excluded.created_at,
    version = greatest(excluded.version, purchases.version + 1)
"""


async def write_purchases(conn: Connection, rows: Rows) -> None:
    await conn.execute(PURCHASES, rows)
    by_studio: dict[str, list[str]] = {}
    for row in rows:
        by_studio.setdefault(row["studio_id"], []).append(row["member_id"])
    for studio_id, member_ids in by_studio.items():
        await grant_credits(conn, studio_id, member_ids)
