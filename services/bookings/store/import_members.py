"""Bulk upserts of members, memberships and purchases, and of the copies of studios, locations and products.

`old` is the stored row: it fills in what a line leaves out and the wire does not show.
"""

from services.bookings.store.import_locks import LOCK_MEMBERS, lock_rows
from services.bookings.store.purchases import grant_credits
from services.bookings.wire import import_lines as wire
from shared.db.database import Connection
from shared.transfer.lines import Rows
from shared.transfer.refusals import Importer, Unique
from shared.transfer.tables import Table, changed_rows

WRITE_STUDIOS = """
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
RETURNING id
"""


# Classes that may get another zone, by the studio or the location of a line. They are locked before the line
# is written: classes come first (store/locks.py).
LOCK_CLASSES_OF_STUDIOS = """
SELECT FROM classes c WHERE c.studio_id IN (
    SELECT line.id FROM jsonb_to_recordset($1) AS line (id uuid, timezone text)
    LEFT JOIN studios s ON s.id = line.id WHERE s.timezone IS DISTINCT FROM line.timezone)
ORDER BY c.studio_id, c.id FOR NO KEY UPDATE
"""
LOCK_CLASSES_OF_LOCATIONS = """
SELECT FROM classes c WHERE (c.studio_id, c.location_id) IN (
    SELECT line.studio_id, line.id
    FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, timezone text)
    LEFT JOIN locations l ON l.studio_id = line.studio_id AND l.id = line.id
    WHERE l.timezone IS DISTINCT FROM line.timezone)
ORDER BY c.studio_id, c.id FOR NO KEY UPDATE
"""
# Without events of the classes: that of the studio or the location says it.
UPDATE_ZONES = """
UPDATE classes c SET timezone = place.timezone
FROM (SELECT studio_id, location_id, class_zone(studio_id, location_id) AS timezone FROM classes
      WHERE studio_id = ANY ($1::uuid[]) GROUP BY studio_id, location_id) AS place
WHERE c.studio_id = place.studio_id AND c.location_id IS NOT DISTINCT FROM place.location_id
  AND c.timezone <> place.timezone
"""


async def _write_zones(conn: Connection, lock: str, write: str, rows: Rows) -> None:
    """Classes of the studios whose zones may have changed get theirs again."""
    await conn.execute(lock, rows)
    if changed := {row[0] for row in await conn.fetch(write, rows)}:
        await conn.execute(UPDATE_ZONES, list(changed))


async def write_studios(conn: Connection, rows: Rows) -> None:
    await _write_zones(conn, LOCK_CLASSES_OF_STUDIOS, WRITE_STUDIOS, rows)


STUDIOS = Importer(line=wire.ImportedStudio, write=write_studios)


WRITE_LOCATIONS = """
INSERT INTO locations (studio_id, id, timezone)
SELECT studio_id, id, timezone FROM jsonb_populate_recordset(NULL::locations, $1)
ON CONFLICT (studio_id, id) DO UPDATE SET timezone = excluded.timezone
WHERE locations.timezone IS DISTINCT FROM excluded.timezone
RETURNING studio_id
"""


async def write_locations(conn: Connection, rows: Rows) -> None:
    await _write_zones(conn, LOCK_CLASSES_OF_LOCATIONS, WRITE_LOCATIONS, rows)


LOCATIONS = Importer(line=wire.ImportedLocation, write=write_locations)


WRITE_PRODUCTS = """
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
    await conn.execute(WRITE_PRODUCTS, rows)
    waiting = [(row["studio_id"], row["member_id"]) for row in await conn.fetch(WAITING_FOR_PRODUCT, rows)]
    await lock_rows(conn, LOCK_MEMBERS, set(waiting))
    await _grant(conn, waiting)


async def _grant(conn: Connection, members: list[tuple[str, str]]) -> None:
    for studio_id in {studio for studio, _ in members}:
        await grant_credits(conn, studio_id, [member for studio, member in members if studio == studio_id])


PRODUCTS = Importer(
    line=wire.ImportedProduct,
    write=write_products,
    changed=changed_rows("products", ("key", "product_type", "credits_granted")),
)


# `credits` apply to a new member only; the balance of an existing one is not overwritten.
MEMBERS = Table(
    name="members",
    columns=(
        "name",
        "first_name",
        "last_name",
        "email",
        "role",
        "membership_type",
        "membership_start_date",
        "membership_end_date",
    ),
    optional=("phone",),
    defaults={"suspended": "false", "created_at": "clock_timestamp()"},
    special={"credits": "members.credits"},
    instants=(),
).importer(wire.ImportedMember, unique=(Unique(fields=("email",)),))

_OWNED = {"It belongs to another member, with whom it stays.": "old.member_id <> n.member_id"}
# `state_version` never decreases, and increases with every change, whatever the line says.
WRITE_MEMBERSHIPS = """
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
    await conn.execute(WRITE_MEMBERSHIPS, rows)


MEMBERSHIPS = Importer(
    line=wire.ImportedMembership,
    table="memberships",
    write=write_memberships,
    changed=changed_rows(
        "memberships",
        ("member_id", "product_id", "status", "auto_renew"),
        optional=("starts_at", "ends_at"),
        more=[
            "old.pause IS NOT DISTINCT FROM nullif(n.pause, 'null')",
            "old.cancellation IS NOT DISTINCT FROM nullif(n.cancellation, 'null')",
            "(n.created_at IS NULL OR old.created_at = n.created_at)",
            "old.state_version >= n.state_version",
        ],
    ),
    refers_to={"member_id": "members"},
    rules=_OWNED,
)

# `credits_granted` stays: credits are granted once, however often the purchase is imported.
_PURCHASES = Table(
    name="purchases",
    columns=(
        "member_id",
        "product_id",
        "product_key",
        "product_type",
        "quantity",
        "amount_total",
        "currency",
        "refunded_amount",
        "status",
    ),
    optional=("location_id",),
    defaults={"created_at": "clock_timestamp()"},
    special={"credits_granted": "purchases.credits_granted"},
    instants=(),
)


async def write_purchases(conn: Connection, rows: Rows) -> None:
    await _PURCHASES.write(conn, rows)
    await _grant(conn, [(row["studio_id"], row["member_id"]) for row in rows])


PURCHASES = _PURCHASES.importer(
    wire.ImportedPurchase, write=write_purchases, refers_to={"member_id": "members"}, rules=_OWNED
)
