"""Reads what an import may change as partners see it, before and after its lines are written."""

from collections.abc import Callable, Sequence
from typing import Any

import asyncpg
import msgspec

from services.bookings.store import bookings, classes, members, memberships, purchases, waitlist
from services.bookings.wire.bookings import Booking, WaitlistEntry
from services.bookings.wire.classes import Class
from services.bookings.wire.members import Member
from shared.db.database import Connection
from shared.events.changes import Snapshot, Snapshots
from shared.transfer.importing import keys_of
from shared.transfer.lines import Rows


def _of_keys(table: str, columns: str, version: str = "version", location: str = "NULL::uuid") -> str:
    return f"""
SELECT {columns}, t.studio_id AS studio, t.{version} AS shown_version, {location} AS shown_location
FROM {table} t WHERE (t.studio_id, t.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
"""  # noqa: S608


def _shown(rows: Sequence[asyncpg.Record], make: Callable[[dict[str, Any]], Any]) -> Snapshots:
    found: Snapshots = {}
    for row in rows:
        values = dict(row)
        studio_id, version = values.pop("studio"), values.pop("shown_version")
        location_id = values.pop("shown_location")
        data = make(values)
        found[studio_id, data.id] = Snapshot(data=data, version=version, location_id=location_id)
    return found


MEMBERS = _of_keys("members", members.WIRE_COLUMNS)
MEMBERSHIPS = _of_keys("memberships", memberships.WIRE_COLUMNS, "state_version")
PURCHASES = _of_keys("purchases", purchases.WIRE_COLUMNS, location="t.location_id")
CLASSES = _of_keys("classes", classes.WIRE_COLUMNS, location="t.location_id")


async def shown_members(conn: Connection, rows: Rows) -> Snapshots:
    return _shown(await conn.fetch(MEMBERS, *keys_of(rows)), lambda values: Member(**values))


async def shown_memberships(conn: Connection, rows: Rows) -> Snapshots:
    return _shown(await conn.fetch(MEMBERSHIPS, *keys_of(rows)), memberships.membership_of)


async def shown_purchases(conn: Connection, rows: Rows) -> Snapshots:
    return _shown(await conn.fetch(PURCHASES, *keys_of(rows)), purchases.purchase_of)


async def shown_classes(conn: Connection, keys: set[tuple[str, str]]) -> Snapshots:
    columns = [studio for studio, _ in keys], [class_id for _, class_id in keys]
    return _shown(
        await conn.fetch(CLASSES, *columns),
        lambda values: msgspec.convert({"object": "class", **values}, Class),
    )


# The rows of the lines, the waitlists of their classes, and all bookings of a class that a line changes; also
# the booking of each entry and the entry of each booking. Their keys are collected first, each by an index of
# its own: one join on `id = … OR class_id = …` compared every line with every row of the studio.
_AFFECTED = """
WITH line AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1)
    AS line (studio_id uuid, id uuid, class_id uuid, whole boolean, other uuid[])
), affected AS (
    SELECT studio_id, id FROM line
    UNION
    SELECT studio_id, unnest(other) FROM line
    UNION
    SELECT t.studio_id, t.id
    FROM (SELECT studio_id, class_id, bool_or(whole) AS whole FROM line GROUP BY studio_id, class_id) line
    JOIN {table} t ON t.studio_id = line.studio_id AND t.class_id = line.class_id
    WHERE line.whole OR t.status = '{waits}'
)
SELECT {columns}, t.studio_id AS studio, t.version AS shown_version, t.location_id AS shown_location
FROM affected JOIN {table} t ON t.studio_id = affected.studio_id AND t.id = affected.id
ORDER BY t.studio_id, t.id
"""
BOOKINGS = _AFFECTED.format(table="bookings", waits="waitlisted", columns=bookings.WIRE_COLUMNS)
ENTRIES = _AFFECTED.format(table="waitlist", waits="waiting", columns=waitlist.WIRE_COLUMNS)


async def shown_bookings(conn: Connection, affected: Rows) -> Snapshots:
    return _shown(
        await conn.fetch(BOOKINGS, affected),
        lambda values: msgspec.convert({"object": "booking", **values}, Booking),
    )


async def shown_entries(conn: Connection, affected: Rows) -> Snapshots:
    return _shown(
        await conn.fetch(ENTRIES, affected),
        lambda values: msgspec.convert({"object": "waitlist", **values}, WaitlistEntry),
    )


OTHER_HALVES = """
WITH line AS MATERIALIZED (SELECT DISTINCT * FROM unnest($1::uuid[], $2::uuid[]) AS line (studio_id, id)),
pair AS (
    SELECT line.studio_id, line.id, w.booking_id AS other
    FROM line JOIN waitlist w ON w.studio_id = line.studio_id AND w.id = line.id
    UNION ALL
    SELECT line.studio_id, line.id, w.id
    FROM line JOIN waitlist w ON w.studio_id = line.studio_id AND w.booking_id = line.id
)
SELECT studio_id, id, array_agg(other) AS others FROM pair WHERE other IS NOT NULL GROUP BY studio_id, id
"""


async def other_halves(conn: Connection, rows: Rows) -> dict[tuple[str, str], list[str]]:
    """The other half of each booking or entry that was ever on a waitlist."""
    found = await conn.fetch(OTHER_HALVES, *keys_of(rows))
    return {(row["studio_id"], row["id"]): row["others"] for row in found}
