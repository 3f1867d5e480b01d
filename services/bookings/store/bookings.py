"""Reads and lists bookings."""

import asyncpg
import msgspec

from services.bookings.store.booking_class_start import add_class_start
from services.bookings.store.booking_row import BOOKING_COLUMNS, BookingRow, booking_row
from services.bookings.store.keyset_pages import Filters, ListedTable, fetch_page, wire_values
from services.bookings.wire.bookings import Booking, BookingsQuery, BookingStatus, RosterEntry, RosterQuery
from shared.db.database import Connection
from shared.http.caller import Caller

# Only the waitlist entry stores the position, so that renumbering the waitlist rewrites no booking.
WIRE_COLUMNS = """
t.id, t.class_id, t.member_id, t.status, t.booking_source, t.class_spot_id,
CASE WHEN t.status = 'waitlisted' THEN (
    SELECT w.position FROM waitlist w
    WHERE w.studio_id = t.studio_id AND w.booking_id = t.id AND w.status = 'waiting')
END AS waitlist_position,
t.created_at, t.updated_at
"""

TABLE = ListedTable(table="bookings", columns=WIRE_COLUMNS, statuses=tuple(BookingStatus))


async def list_page(conn: Connection, caller: Caller, query: BookingsQuery) -> list[Booking]:
    filters = Filters(narrow={"class_id": query.class_id, "member_id": query.member_id}, status=query.status)
    await add_class_start(conn, caller, filters, query)
    rows = await fetch_page(conn, caller, TABLE, filters, cursor=query.cursor, limit=query.limit)
    return [Booking(**wire_values(row)) for row in rows]


# Names are looked up row by row, so that the list itself stays one scan of the class's bookings.
ROSTER_COLUMNS = f"""{WIRE_COLUMNS},
(SELECT m.name FROM members m WHERE m.studio_id = t.studio_id AND m.id = t.member_id) AS member_name,
(SELECT m.email FROM members m WHERE m.studio_id = t.studio_id AND m.id = t.member_id) AS member_email
"""  # noqa: S608
ROSTER_TABLE = ListedTable(table="bookings", columns=ROSTER_COLUMNS)
ON_ROSTER = [status.value for status in BookingStatus if status not in ("cancelled", "expired")]


async def list_roster(
    conn: Connection, caller: Caller, class_id: str, query: RosterQuery
) -> list[RosterEntry]:
    """Who is expected, seated or waiting, in the order of their bookings."""
    statuses = ON_ROSTER if query.status is None else [query.status.value]
    filters = Filters(narrow={"class_id": class_id}, where=[("t.status = ANY({}::text[])", statuses)])
    rows = await fetch_page(conn, caller, ROSTER_TABLE, filters, cursor=query.cursor, limit=query.limit)
    return [RosterEntry(**wire_values(row)) for row in rows]


GET = f"SELECT {WIRE_COLUMNS}, t.location_id FROM bookings t WHERE t.studio_id = $1 AND t.id = $2"  # noqa: S608


async def get(conn: Connection, caller: Caller, booking_id: str) -> Booking | None:
    row = await conn.fetchrow(GET, caller.studio_id, booking_id)
    if row is None or not caller.may_see(row["location_id"]):
        return None
    return _booking(row)


def _booking(row: asyncpg.Record) -> Booking:
    values = dict(row)
    values.pop("location_id")
    return Booking(**values)


READ = f"SELECT {BOOKING_COLUMNS} FROM bookings WHERE studio_id = $1 AND id = $2"  # noqa: S608


async def read(conn: Connection, caller: Caller, booking_id: str) -> BookingRow | None:
    """All columns. To change the booking, read it again under its class's lock."""
    row = await conn.fetchrow(READ, caller.studio_id, booking_id)
    if row is None or not caller.may_see(row["location_id"]):
        return None
    return booking_row(row)


READ_LIVE = f"""
SELECT {BOOKING_COLUMNS} FROM bookings
WHERE studio_id = $1 AND class_id = $2 AND status IN ('confirmed', 'checked_in', 'waitlisted')
ORDER BY created_at, id
"""  # noqa: S608


async def read_live(conn: Connection, caller: Caller, class_id: str) -> list[BookingRow]:
    return [booking_row(row) for row in await conn.fetch(READ_LIVE, caller.studio_id, class_id)]


LIVE_OF_MEMBER = """
SELECT id FROM bookings WHERE studio_id = $1 AND class_id = $2 AND member_id = $3
  AND status IN ('confirmed', 'checked_in', 'waitlisted')
"""


async def live_of_member(conn: Connection, caller: Caller, class_id: str, member_id: str) -> str | None:
    found: str | None = await conn.fetchval(LIVE_OF_MEMBER, caller.studio_id, class_id, member_id)
    return found


READ_WAITING = f"""
SELECT {", ".join("b." + column.strip() for column in BOOKING_COLUMNS.split(","))}
FROM waitlist w JOIN bookings b ON b.studio_id = w.studio_id AND b.id = w.booking_id
WHERE w.studio_id = $1 AND w.class_id = $2 AND w.status = 'waiting'
"""  # noqa: S608


async def read_waiting(conn: Connection, caller: Caller, class_id: str) -> list[BookingRow]:
    return [booking_row(row) for row in await conn.fetch(READ_WAITING, caller.studio_id, class_id)]


OF_CLASSES = f"""
SELECT {", ".join("b." + column.strip() for column in BOOKING_COLUMNS.split(","))}, (
    SELECT w.position FROM waitlist w
    WHERE w.studio_id = b.studio_id AND w.booking_id = b.id AND w.status = 'waiting') AS position
FROM bookings b WHERE b.studio_id = $1 AND b.class_id = ANY ($2::uuid[])
ORDER BY b.created_at, b.id
"""  # noqa: S608


async def of_classes(
    conn: Connection, caller: Caller, class_ids: list[str]
) -> list[tuple[BookingRow, int | None]]:
    """All of them, with the place of those who wait."""
    rows = [dict(row) for row in await conn.fetch(OF_CLASSES, caller.studio_id, class_ids)]
    positions = [row.pop("position") for row in rows]
    return [(msgspec.convert(row, BookingRow), place) for row, place in zip(rows, positions, strict=True)]
