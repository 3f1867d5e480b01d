"""Reads what an import may change as partners see it, before and after its lines are written."""

from collections.abc import Callable, Sequence
from typing import Any

import asyncpg
import msgspec

from services.bookings.store import bookings, classes, members, memberships, purchases, waitlist
from services.bookings.store.import_locks import Lines
from services.bookings.wire.bookings import Booking
from services.bookings.wire.classes import Class
from services.bookings.wire.members import Member
from services.bookings.wire.waitlist import WaitlistEntry
from shared.db.database import Connection
from shared.events.changes import Shown, ShownById

Keys = tuple[list[str], list[str]]


def _of_keys(table: str, columns: str, version: str = "version", location: str = "NULL::uuid") -> str:
    return f"""
SELECT {columns}, t.studio_id AS studio, t.{version} AS shown_version, {location} AS shown_location
FROM {table} t WHERE (t.studio_id, t.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
"""  # noqa: S608


def _shown(rows: Sequence[asyncpg.Record], make: Callable[[dict[str, Any]], Any]) -> ShownById:
    found: ShownById = {}
    for row in rows:
        values = dict(row)
        studio_id, version = values.pop("studio"), values.pop("shown_version")
        location_id = values.pop("shown_location")
        data = make(values)
        found[studio_id, data.id] = Shown(data=data, version=version, location_id=location_id)
    return found


MEMBERS = _of_keys("members", members.WIRE_COLUMNS) + " AND t.role IN ('member', 'user', 'lead')"
MEMBERSHIPS = _of_keys("memberships", memberships.WIRE_COLUMNS, "state_version")
PURCHASES = _of_keys("purchases", purchases.WIRE_COLUMNS, location="t.location_id")
CLASSES = _of_keys("classes", classes.WIRE_COLUMNS, location="t.location_id")


async def shown_members(conn: Connection, lines: Lines) -> ShownById:
    return _shown(await conn.fetch(MEMBERS, *_keys(lines)), lambda values: Member(**values))


async def shown_memberships(conn: Connection, lines: Lines) -> ShownById:
    return _shown(await conn.fetch(MEMBERSHIPS, *_keys(lines)), memberships.membership_of)


async def shown_purchases(conn: Connection, lines: Lines) -> ShownById:
    return _shown(await conn.fetch(PURCHASES, *_keys(lines)), purchases.purchase_of)


async def shown_classes(conn: Connection, keys: set[tuple[str, str]]) -> ShownById:
    columns = [studio for studio, _ in keys], [class_id for _, class_id in keys]
    return _shown(
        await conn.fetch(CLASSES, *columns),
        lambda values: msgspec.convert({"object": "class", **values}, Class),
    )


# The rows of the lines, the waitlists of their classes, and all bookings of a class that a line changes; also
# the booking of each entry and the entry of each booking.
_AFFECTED = """
FROM {table} t JOIN jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, class_id uuid, whole boolean, other uuid[])
  ON t.studio_id = line.studio_id AND (
    t.id = line.id OR t.id = ANY (line.other)
    OR t.class_id = line.class_id AND (line.whole OR t.status = '{waits}'))
"""
BOOKINGS = f"""
SELECT DISTINCT ON (t.studio_id, t.id) {bookings.WIRE_COLUMNS}, t.studio_id AS studio,
    t.version AS shown_version, t.location_id AS shown_location
{_AFFECTED.format(table="bookings", waits="waitlisted")}
"""
ENTRIES = f"""
SELECT DISTINCT ON (t.studio_id, t.id) {waitlist.WIRE_COLUMNS}, t.studio_id AS studio,
    t.version AS shown_version, t.location_id AS shown_location
{_AFFECTED.format(table="waitlist", waits="waiting")}
"""


async def shown_bookings(conn: Connection, affected: Lines) -> ShownById:
    return _shown(
        await conn.fetch(BOOKINGS, affected),
        lambda values: msgspec.convert({"object": "booking", **values}, Booking),
    )


async def shown_entries(conn: Connection, affected: Lines) -> ShownById:
    return _shown(
        await conn.fetch(ENTRIES, affected),
        lambda values: msgspec.convert({"object": "waitlist", **values}, WaitlistEntry),
    )


PARTNERS = """
SELECT line.studio_id, line.id, array_agg(w.booking_id) FILTER (WHERE w.id = line.id)
    || array_agg(w.id) FILTER (WHERE w.booking_id = line.id) AS others
FROM unnest($1::uuid[], $2::uuid[]) AS line (studio_id, id)
JOIN waitlist w ON w.studio_id = line.studio_id AND (w.id = line.id OR w.booking_id = line.id)
GROUP BY line.studio_id, line.id
"""


async def partners(conn: Connection, lines: Lines) -> dict[tuple[str, str], list[str]]:
    """The other half of each booking or entry that was ever on a waitlist."""
    rows = await conn.fetch(PARTNERS, *_keys(lines))
    return {(row["studio_id"], row["id"]): [one for one in row["others"] or () if one] for row in rows}


def _keys(lines: Lines) -> Keys:
    return [str(line["studio_id"]) for line in lines], [str(line["id"]) for line in lines]
