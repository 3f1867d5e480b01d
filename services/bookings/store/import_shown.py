"""Reads what an import may change as partners see it, before and after its lines are written."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncpg
import msgspec

from services.bookings.store import bookings, classes, members, memberships, purchases, waitlist
from services.bookings.wire.bookings import Booking, WaitlistEntry
from services.bookings.wire.classes import Class
from services.bookings.wire.members import Member
from shared.db.database import Connection
from shared.events.changes import Snapshot, Snapshots
from shared.events.event import Event
from shared.events.kinds import BookingUpdated
from shared.transfer.importing import keys_of
from shared.transfer.lines import Rows

Make = Callable[[dict[str, Any]], Any]


def _shown(rows: Sequence[asyncpg.Record], make: Make) -> Snapshots:
    found: Snapshots = {}
    for row in rows:
        values = dict(row)
        studio_id, version = values.pop("studio"), values.pop("shown_version")
        location_id = values.pop("shown_location")
        data = make(values)
        found[studio_id, data.id] = Snapshot(data=data, version=version, location_id=location_id)
    return found


def _reader(
    table: str, columns: str, make: Make, *, version: str = "version", location: str = "NULL::uuid"
) -> Callable[[Connection, Rows], Awaitable[Snapshots]]:
    sql = f"""
SELECT {columns}, t.studio_id AS studio, t.{version} AS shown_version, {location} AS shown_location
FROM {table} t WHERE (t.studio_id, t.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
"""  # noqa: S608

    async def read(conn: Connection, rows: Rows) -> Snapshots:
        return _shown(await conn.fetch(sql, *keys_of(rows)), make)

    return read


shown_members = _reader("members", members.WIRE_COLUMNS, lambda values: Member(**values))
shown_memberships = _reader(
    "memberships", memberships.WIRE_COLUMNS, memberships.membership_of, version="state_version"
)
shown_purchases = _reader(
    "purchases", purchases.WIRE_COLUMNS, purchases.purchase_of, location="t.location_id"
)
shown_classes = _reader(
    "classes",
    classes.WIRE_COLUMNS,
    lambda values: msgspec.convert({"object": "class", **values}, Class),
    location="t.location_id",
)


# The rows of the lines, the waitlists of their classes, and all bookings of a class that a line changes; also
# the booking of a line's entry and the entry of its booking, either of which may belong to another class: a
# booking moves. Their keys are collected first, each by an index of its own: one join on
# `id = … OR class_id = …` compared every line with every row of the studio.
_AFFECTED = """
WITH line AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1)
    AS line (studio_id uuid, id uuid, class_id uuid, whole boolean)
), affected AS (
    SELECT studio_id, id FROM line
    UNION
    SELECT line.studio_id, w.{own_id} FROM line JOIN waitlist w
      ON w.studio_id = line.studio_id AND w.{other_id} = line.id AND line.class_id IS NOT NULL
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
BOOKINGS = _AFFECTED.format(
    table="bookings",
    waits="waitlisted",
    own_id="booking_id",
    other_id="id",
    columns=bookings.WIRE_COLUMNS,
)
ENTRIES = _AFFECTED.format(
    table="waitlist",
    waits="waiting",
    own_id="id",
    other_id="booking_id",
    columns=waitlist.WIRE_COLUMNS,
)


async def shown_bookings(conn: Connection, affected: Rows) -> Snapshots:
    return _shown(
        await conn.fetch(BOOKINGS, affected),
        lambda values: msgspec.convert({"object": "booking", **values}, Booking),
    )


ENDED_HOLDS = """
SELECT studio_id, id FROM bookings
WHERE only_held AND status <> 'held' AND (studio_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
"""


async def without_ended_holds(conn: Connection, events: list[Event]) -> list[Event]:
    """Lists without a status leave them out, so only their end is told, not that their class has moved."""
    updated = [
        (event.studio_id, event.resource.id) for event in events if event.kind.name == BookingUpdated.name
    ]
    if not updated:
        return events
    rows = await conn.fetch(ENDED_HOLDS, *zip(*updated, strict=True))
    ended = {(row["studio_id"], row["id"]) for row in rows}
    return [
        event
        for event in events
        if event.kind.name != BookingUpdated.name or (event.studio_id, event.resource.id) not in ended
    ]


async def shown_entries(conn: Connection, affected: Rows) -> Snapshots:
    return _shown(
        await conn.fetch(ENTRIES, affected),
        lambda values: msgspec.convert({"object": "waitlist", **values}, WaitlistEntry),
    )
