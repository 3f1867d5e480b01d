"""What an import compares, locks and checks before it writes. Only the locks are not for dry runs."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from services.bookings.rules.import_refusals import Known, KnownBooking, KnownEntry
from services.bookings.store.classes import WRITABLE
from services.bookings.wire import import_lines as wire
from shared.db.database import Connection
from shared.transfer.importing import Changed, Line, Rows
from shared.transfer.lines import Earlier
from shared.transfer.tables import changed_rows

_CREATED = "(n.created_at IS NULL OR old.created_at = n.created_at)"
_HIDDEN = ("credit_cost", "waitlist_capacity")
_PAIR = ("class_id", "member_id", "status")
_JSON = [f"old.{name} IS NOT DISTINCT FROM nullif(n.{name}, 'null')" for name in ("pause", "cancellation")]
_PROFILE = (
    "name",
    "first_name",
    "last_name",
    "email",
    "role",
    "membership_type",
    "membership_start_date",
    "membership_end_date",
)
_SALE = (
    "member_id",
    "product_id",
    "product_key",
    "product_type",
    "quantity",
    "amount_total",
    "currency",
    "refunded_amount",
    "status",
)
CHANGED: dict[type, Changed] = {
    wire.ImportedProduct: changed_rows("products", ("key", "product_type", "credits_granted")),
    wire.ImportedMember: changed_rows("members", _PROFILE, optional=("phone", "suspended"), more=[_CREATED]),
    wire.ImportedMembership: changed_rows(
        "memberships",
        ("member_id", "product_id", "status", "auto_renew"),
        optional=("starts_at", "ends_at"),
        more=[*_JSON, _CREATED, "old.state_version >= n.state_version"],
    ),
    wire.ImportedPurchase: changed_rows("purchases", _SALE, optional=("location_id",), more=[_CREATED]),
    wire.ImportedClass: changed_rows(
        "classes", [column for column in WRITABLE if column not in _HIDDEN], optional=_HIDDEN
    ),
    wire.ImportedSpot: changed_rows(
        "class_spots", ("class_id", "label"), more=["old.sort_order = (line ->> 'order')::int"]
    ),
    wire.ImportedBooking: changed_rows(
        "bookings",
        (*_PAIR, "booking_source", "class_spot_id"),
        more=[_CREATED, "(n.updated_at IS NULL OR old.updated_at = n.updated_at)"],
    ),
    # An export has the current position. Other files have the one at which they put the entry; those before
    # it may have left since.
    wire.ImportedEntry: changed_rows(
        "waitlist",
        _PAIR,
        more=[
            _CREATED,
            "n.position = CASE WHEN line ? 'version' THEN old.position "
            "ELSE coalesce(old.imported_as, old.position) END",
        ],
    ),
}


# An import gives up its locks, and answers 503, rather than make partners wait behind what it waits for.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '3s'"

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


# The members that the lines name, everyone in a cancelled class, and those waiting in any other class.
LOCK_MEMBERS_OF_CLASSES = """
WITH line AS (
    SELECT * FROM jsonb_to_recordset($1)
    AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid, cancels boolean)
)
SELECT 1 FROM members m
WHERE (m.studio_id, m.id) IN (
    SELECT studio_id, member_id FROM line
    UNION ALL
    SELECT b.studio_id, b.member_id
    FROM bookings b JOIN line ON b.studio_id = line.studio_id AND b.id = line.id
    UNION ALL
    SELECT b.studio_id, b.member_id
    FROM (SELECT studio_id, class_id, bool_or(cancels) AS cancels FROM line GROUP BY studio_id, class_id) line
    JOIN bookings b ON b.studio_id = line.studio_id AND b.class_id = line.class_id
    LEFT JOIN classes c ON c.studio_id = line.studio_id AND c.id = line.class_id
    WHERE b.status = 'waitlisted'
       OR b.status IN ('confirmed', 'checked_in') AND (line.cancels OR c.status = 'cancelled'))
ORDER BY m.studio_id, m.id FOR NO KEY UPDATE
"""


def classes_of(rows: Rows) -> set[tuple[str, str]]:
    """Studio and class id, from rows of classes, spots, bookings and waitlist entries."""
    return {(row["studio_id"], row.get("class_id") or row["id"]) for row in rows}


async def lock_classes_and_members(conn: Connection, rows: Rows) -> None:
    """Locks the classes, and every member whom the lines may promote, cancel or give credits back."""
    await lock_rows(conn, LOCK_CLASSES, classes_of(rows))
    touched = [
        {name: row.get(name) for name in ("studio_id", "id", "member_id")}
        | {
            "class_id": row.get("class_id") or row["id"],
            "cancels": "class_id" not in row and row["status"] == "cancelled",
        }
        for row in rows
    ]
    await conn.execute(LOCK_MEMBERS_OF_CLASSES, touched)


def lock_members(column: str) -> Callable[[Connection, Rows], Awaitable[None]]:
    async def lock(conn: Connection, rows: Rows) -> None:
        await lock_rows(conn, LOCK_MEMBERS, {(row["studio_id"], row[column]) for row in rows})

    return lock


async def no_lock(conn: Connection, rows: Rows) -> None:
    """Copies belong to nobody here, but their writes may wait for members."""
    await conn.execute(LOCK_TIMEOUT)


async def lock_rows(conn: Connection, statement: str, rows: set[tuple[str, str]]) -> None:
    await conn.execute(LOCK_TIMEOUT)
    await conn.execute(statement, [studio for studio, _ in rows], [row_id for _, row_id in rows])


_LINES = """
WITH line AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid,
        class_spot_id uuid, booking_id uuid, email text, receipt_id uuid, kind text))
"""


def _named(table: str, column: str, columns: str = "") -> str:
    return f"""{_LINES}
SELECT t.studio_id, t.id{columns} FROM {table} t
WHERE (t.studio_id, t.id) IN (SELECT studio_id, {column} FROM line)
"""  # noqa: S608


KNOWN_CLASSES = _named("classes", "class_id")
KNOWN_SPOTS = _named("class_spots", "class_spot_id", ", t.class_id")
KNOWN_MEMBERS = f"""{_named("members", "member_id", ", t.email")}
UNION SELECT t.studio_id, t.id, t.email FROM members t
WHERE (t.studio_id, t.id) IN (SELECT studio_id, id FROM line WHERE kind = 'ImportedMember')
UNION SELECT t.studio_id, t.id, t.email FROM members t
WHERE (t.studio_id, t.email) IN (SELECT studio_id, email FROM line)
"""  # noqa: S608
KNOWN_OWNERS = f"""{_LINES}
SELECT kind, t.studio_id, t.id, t.member_id FROM memberships t JOIN line USING (studio_id, id)
WHERE kind = 'ImportedMembership'
UNION ALL SELECT kind, t.studio_id, t.id, t.member_id FROM purchases t JOIN line USING (studio_id, id)
WHERE kind = 'ImportedPurchase'
"""  # noqa: S608
# Each key by an index of its own, as in store/import_shown.py.
KNOWN_BOOKINGS = f"""{_LINES}, named AS (
    SELECT studio_id, id FROM line UNION SELECT studio_id, booking_id FROM line
    UNION SELECT b.studio_id, b.id FROM line JOIN bookings b USING (studio_id, class_id, member_id)
    WHERE b.status IN ('confirmed', 'checked_in', 'waitlisted')
    UNION SELECT b.studio_id, b.id FROM line JOIN bookings b USING (studio_id, class_id, class_spot_id)
    WHERE b.status IN ('confirmed', 'checked_in')
)
SELECT b.studio_id, b.id, b.class_id, b.member_id, b.status, b.class_spot_id,
    c.id IS NOT NULL AS has_receipt
FROM named JOIN bookings b USING (studio_id, id)
LEFT JOIN cancellations c ON c.studio_id = b.studio_id AND c.booking_id = b.id
"""  # noqa: S608
KNOWN_ENTRIES = f"""{_LINES}, named AS (
    SELECT studio_id, id FROM line
    UNION SELECT w.studio_id, w.id FROM line JOIN waitlist w USING (studio_id, class_id, member_id)
    WHERE w.status = 'waiting'
)
SELECT w.studio_id, w.id, w.class_id, w.member_id, w.booking_id, w.status
FROM named JOIN waitlist w USING (studio_id, id)
"""  # noqa: S608
KNOWN_RECEIPTS = f"""{_LINES}
SELECT c.studio_id, c.id, c.booking_id FROM cancellations c
WHERE (c.studio_id, c.id) IN (SELECT studio_id, receipt_id FROM line)
"""  # noqa: S608


async def read_known(conn: Connection, lines: Sequence[Line], earlier: Sequence[Earlier]) -> Known:
    known = Known()
    given = [_named_by(line.studio_id, line.value) for line in lines]
    kinds = {type(line.value) for line in lines}
    if kinds - {wire.ImportedClass, *WITHOUT_REFERENCES}:
        for row in await conn.fetch(KNOWN_MEMBERS, given):
            known.add_member(row["studio_id"], row["id"], row["email"])
    if kinds & {wire.ImportedMembership, wire.ImportedPurchase}:
        for row in await conn.fetch(KNOWN_OWNERS, given):
            known.owners[row["kind"], row["studio_id"], row["id"]] = row["member_id"]
    if kinds & {wire.ImportedSpot, wire.ImportedBooking, wire.ImportedEntry}:
        known.classes = {(row["studio_id"], row["id"]) for row in await conn.fetch(KNOWN_CLASSES, given)}
    if kinds & {wire.ImportedBooking, wire.ImportedEntry}:
        await _read_seats(conn, given, known)
    for line in earlier:
        known.add_earlier(line.kind, line.studio_id, line.id)
    return known


WITHOUT_REFERENCES = (wire.ImportedStudio, wire.ImportedLocation, wire.ImportedProduct, wire.ImportedSpot)


async def _read_seats(conn: Connection, given: Rows, known: Known) -> None:
    for row in await conn.fetch(KNOWN_SPOTS, given):
        known.spots[row["studio_id"], row["id"]] = row["class_id"]
    for row in await conn.fetch(KNOWN_BOOKINGS, given):
        known.add_booking(row["studio_id"], msgspec.convert(dict(row), KnownBooking))
    for row in await conn.fetch(KNOWN_ENTRIES, given):
        known.add_entry(row["studio_id"], msgspec.convert(dict(row), KnownEntry))
    for row in await conn.fetch(KNOWN_RECEIPTS, given):
        known.receipts[row["studio_id"], row["id"]] = row["booking_id"]


def _named_by(studio_id: str, line: Any) -> dict[str, object]:
    names = ("id", "class_id", "member_id", "class_spot_id", "booking_id", "email")
    receipt = getattr(line, "cancellation", None) if isinstance(line, wire.ImportedBooking) else None
    return {
        "studio_id": studio_id,
        "kind": type(line).__name__,
        "receipt_id": receipt.id if receipt else None,
        **{name: getattr(line, name, None) or None for name in names},
    }
