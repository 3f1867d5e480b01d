"""Reads what import lines refer to or may collide with, for rules/import_refusals.py. Takes no locks."""

from collections.abc import Sequence
from typing import Any

import msgspec

from services.bookings.rules.import_refusals import Known, KnownBooking, KnownEntry
from services.bookings.wire import import_lines as wire
from shared.db.database import Connection
from shared.transfer.importing import Line, Rows
from shared.transfer.lines import Earlier

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


CLASSES = _named("classes", "class_id")
SPOTS = _named("class_spots", "class_spot_id", ", t.class_id")
MEMBERS = f"""{_named("members", "member_id", ", t.email")}
UNION SELECT t.studio_id, t.id, t.email FROM members t
WHERE (t.studio_id, t.id) IN (SELECT studio_id, id FROM line WHERE kind = 'ImportedMember')
UNION SELECT t.studio_id, t.id, t.email FROM members t
WHERE (t.studio_id, t.email) IN (SELECT studio_id, email FROM line)
"""  # noqa: S608
OWNERS = f"""{_LINES}
SELECT kind, t.studio_id, t.id, t.member_id FROM memberships t JOIN line USING (studio_id, id)
WHERE kind = 'ImportedMembership'
UNION ALL SELECT kind, t.studio_id, t.id, t.member_id FROM purchases t JOIN line USING (studio_id, id)
WHERE kind = 'ImportedPurchase'
"""  # noqa: S608
# Each key by an index of its own, as in store/import_shown.py.
BOOKINGS = f"""{_LINES}, named AS (
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
ENTRIES = f"""{_LINES}, named AS (
    SELECT studio_id, id FROM line
    UNION SELECT w.studio_id, w.id FROM line JOIN waitlist w USING (studio_id, class_id, member_id)
    WHERE w.status = 'waiting'
)
SELECT w.studio_id, w.id, w.class_id, w.member_id, w.booking_id, w.status
FROM named JOIN waitlist w USING (studio_id, id)
"""  # noqa: S608
RECEIPTS = f"""{_LINES}
SELECT c.studio_id, c.id, c.booking_id FROM cancellations c
WHERE (c.studio_id, c.id) IN (SELECT studio_id, receipt_id FROM line)
"""  # noqa: S608


async def read_known(conn: Connection, lines: Sequence[Line], earlier: Sequence[Earlier]) -> Known:
    known = Known()
    given = [_named_by(line.studio_id, line.value) for line in lines]
    kinds = {type(line.value) for line in lines}
    if kinds - {wire.ImportedClass, *WITHOUT_REFERENCES}:
        for row in await conn.fetch(MEMBERS, given):
            known.add_member(row["studio_id"], row["id"], row["email"])
    if kinds & {wire.ImportedMembership, wire.ImportedPurchase}:
        for row in await conn.fetch(OWNERS, given):
            known.owners[row["kind"], row["studio_id"], row["id"]] = row["member_id"]
    if kinds & {wire.ImportedSpot, wire.ImportedBooking, wire.ImportedEntry}:
        known.classes = {(row["studio_id"], row["id"]) for row in await conn.fetch(CLASSES, given)}
    if kinds & {wire.ImportedBooking, wire.ImportedEntry}:
        await _read_seats(conn, given, known)
    for line in earlier:
        known.add_earlier(line.kind, line.studio_id, line.id)
    return known


WITHOUT_REFERENCES = (wire.ImportedStudio, wire.ImportedLocation, wire.ImportedProduct, wire.ImportedSpot)


async def _read_seats(conn: Connection, given: Rows, known: Known) -> None:
    for row in await conn.fetch(SPOTS, given):
        known.spots[row["studio_id"], row["id"]] = row["class_id"]
    for row in await conn.fetch(BOOKINGS, given):
        known.add_booking(row["studio_id"], msgspec.convert(dict(row), KnownBooking))
    for row in await conn.fetch(ENTRIES, given):
        known.add_entry(row["studio_id"], msgspec.convert(dict(row), KnownEntry))
    for row in await conn.fetch(RECEIPTS, given):
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
