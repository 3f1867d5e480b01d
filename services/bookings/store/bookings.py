"""Reads and lists bookings."""

from datetime import datetime

import asyncpg
import msgspec
from msgspec import Struct

from services.bookings.rules.booking_facts import LiveBooking
from services.bookings.rules.cancellation import BookingToCancel
from services.bookings.rules.class_times import clamp_to_supported_years
from services.bookings.store.keyset_pages import (
    Filters,
    ListedTable,
    LookUp,
    fetch_one,
    fetch_page,
)
from services.bookings.wire.bookings import (
    MAX_CLASSES_IN_RANGE,
    Booking,
    BookingsQuery,
    BookingStatus,
)
from shared.db.database import Connection
from shared.errors import Invalid, Problem
from shared.http.body_problems import EARLIEST, LATEST
from shared.http.caller import Caller
from shared.http.pages import Page, page_of


class BookingRow(Struct, kw_only=True):
    id: str
    class_id: str
    member_id: str
    location_id: str | None
    status: BookingStatus
    booking_source: str | None
    class_spot_id: str | None
    credits_charged: int
    promoted_at: datetime | None
    created_at: datetime
    updated_at: datetime
    version: int = 1
    # Of a booking that began as a hold, for good. `only_held`: it was never confirmed.
    held_until: datetime | None = None
    held_by: str | None = None
    only_held: bool = False

    def to_wire(self, position: int | None = None) -> Booking:
        return Booking(
            id=self.id,
            class_id=self.class_id,
            member_id=self.member_id,
            status=self.status,
            booking_source=self.booking_source,
            class_spot_id=self.class_spot_id,
            waitlist_position=position,
            held_until=self.held_until if self.status is BookingStatus.HELD else None,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )

    def has_run_out(self, now: datetime) -> bool:
        held = self.status is BookingStatus.HELD
        return held and self.held_until is not None and self.held_until <= now

    def to_cancel(self, start_time: datetime) -> BookingToCancel:
        return BookingToCancel(
            status=self.status,
            start_time=start_time,
            credits_charged=self.credits_charged,
            promoted_at=self.promoted_at,
        )


BOOKING_COLUMNS = """
id, class_id, member_id, location_id, status, booking_source, class_spot_id, credits_charged, promoted_at,
created_at, updated_at, version, held_until, held_by, only_held
"""


def booking_row(record: asyncpg.Record) -> BookingRow:
    return msgspec.convert(dict(record), BookingRow)


IN_RANGE = "SELECT c.id FROM classes c WHERE c.studio_id = $1 AND c.start_time >= {} AND c.start_time < {}"
OF_BOOKING = """
EXISTS (SELECT FROM classes c WHERE c.studio_id = t.studio_id AND c.id = t.class_id AND c.start_time {} {{}})
"""
HOLDS_TOO_MANY = f"""
SELECT count(*) > {MAX_CLASSES_IN_RANGE} FROM (
    SELECT FROM classes WHERE studio_id = $1 AND start_time >= $2 AND start_time < $3
    LIMIT {MAX_CLASSES_IN_RANGE + 1}) c
"""  # noqa: S608


async def add_class_start(conn: Connection, caller: Caller, filters: Filters, query: BookingsQuery) -> None:
    """Bookings by the start of their class, in the list's own order, which is that of their creation.

    No index has both orders. So a page merges the bookings of each class in the range, and the number of
    classes in the range is limited. With one class or one member there are few bookings: then the class of
    each is looked up, over any range.
    """
    if query.starts_after is None and query.starts_before is None:
        return
    after = clamp_to_supported_years(query.starts_after or EARLIEST)
    before = clamp_to_supported_years(query.starts_before or LATEST)
    if any(filters.narrow.values()):
        filters.where = [(OF_BOOKING.format(">="), after), (OF_BOOKING.format("<"), before)]
        return
    if await conn.fetchval(HOLDS_TOO_MANY, caller.studio_id, after, before):
        field = "starts_after" if query.starts_before is None else "starts_before"
        text = f"Over {MAX_CLASSES_IN_RANGE} classes start in this range. Choose a shorter one."
        raise Invalid([Problem(("query", field), text, "range_too_wide")])
    filters.look_up = LookUp("class_id", IN_RANGE, (after, before))


# A hold that has run out reads as it will be stored: `expired` since its end.
RUN_OUT = "t.status = 'held' AND t.held_until <= statement_timestamp()"
# Only the waitlist entry stores the position, so that renumbering the waitlist rewrites no booking.
WIRE_COLUMNS = f"""
t.id, t.class_id, t.member_id, CASE WHEN {RUN_OUT} THEN 'expired' ELSE t.status END AS status,
t.booking_source, t.class_spot_id,
CASE WHEN t.status = 'waitlisted' THEN (
    SELECT w.position FROM waitlist w
    WHERE w.studio_id = t.studio_id AND w.booking_id = t.id AND w.status = 'waiting')
END AS waitlist_position,
CASE WHEN t.status = 'held' AND t.held_until > statement_timestamp() THEN t.held_until END AS held_until,
t.created_at, CASE WHEN {RUN_OUT} THEN t.held_until ELSE t.updated_at END AS updated_at
"""  # noqa: S608

TABLE = ListedTable(table="bookings", columns=WIRE_COLUMNS, statuses=tuple(BookingStatus), part="only_held")
LIVE_HOLD = "(t.status <> 'held' OR t.held_until > statement_timestamp())"


def of_status(status: BookingStatus | None) -> tuple[str | tuple[str, ...] | None, str]:
    """The stored statuses of a list, and a condition. Without a status it leaves out what was only held."""
    if status is None:
        return None, "NOT t.only_held"
    if status is BookingStatus.EXPIRED:
        return ("expired", "held"), f"(t.status = 'expired' OR NOT {LIVE_HOLD})"
    return status, LIVE_HOLD if status is BookingStatus.HELD else ""


async def list_page(conn: Connection, caller: Caller, query: BookingsQuery) -> Page[Booking]:
    status, also = of_status(query.status)
    narrow = {"class_id": query.class_id, "member_id": query.member_id}
    filters = Filters(narrow=narrow, status=status, also=also)
    await add_class_start(conn, caller, filters, query)
    rows = await fetch_page(conn, caller, TABLE, filters, query)
    return page_of([Booking(**row) for row in rows], query.limit)


async def get(conn: Connection, caller: Caller, booking_id: str) -> Booking:
    return Booking(**await fetch_one(conn, caller, TABLE, booking_id))


READ = f"SELECT {BOOKING_COLUMNS} FROM bookings WHERE studio_id = $1 AND id = $2"  # noqa: S608


async def read(conn: Connection, caller: Caller, booking_id: str) -> BookingRow | None:
    """All columns. To change the booking, read it again under its class's lock."""
    row = await conn.fetchrow(READ, caller.studio_id, booking_id)
    if row is None or not caller.may_see(row["location_id"]):
        return None
    return booking_row(row)


OF_MEMBER = "SELECT id FROM bookings WHERE studio_id = $1 AND member_id = $2"


async def ids_of(conn: Connection, caller: Caller, member_id: str) -> list[str]:
    return [row["id"] for row in await conn.fetch(OF_MEMBER, caller.studio_id, member_id)]


LOCATION = "SELECT location_id FROM bookings WHERE studio_id = $1 AND id = $2"


async def is_visible(conn: Connection, caller: Caller, resource_id: str) -> bool:
    """What is no booking has no location."""
    row = await conn.fetchrow(LOCATION, caller.studio_id, resource_id)
    return row is None or caller.may_see(row["location_id"])


READ_LIVE = f"""
SELECT {BOOKING_COLUMNS} FROM bookings
WHERE studio_id = $1 AND class_id = $2 AND status IN ('held', 'confirmed', 'checked_in', 'waitlisted')
ORDER BY created_at, id
"""  # noqa: S608


async def read_live(conn: Connection, caller: Caller, class_id: str) -> list[BookingRow]:
    """Under the class's lock, once the holds that have run out are stored as expired."""
    return [booking_row(row) for row in await conn.fetch(READ_LIVE, caller.studio_id, class_id)]


READ_HELD = f"""
SELECT {BOOKING_COLUMNS} FROM bookings WHERE studio_id = $1 AND class_id = $2 AND status = 'held'
ORDER BY held_until, id
"""  # noqa: S608


async def read_held(conn: Connection, caller: Caller, class_id: str) -> list[BookingRow]:
    """Also those that have run out."""
    return [booking_row(row) for row in await conn.fetch(READ_HELD, caller.studio_id, class_id)]


RUN_OUT_HOLDS = """
SELECT studio_id, class_id, held_until FROM bookings
WHERE status = 'held' AND held_until <= clock_timestamp()
  AND ($2::timestamptz IS NULL
       OR held_until >= $2 AND (held_until, studio_id, class_id) > ($2, $3::uuid, $4::uuid))
ORDER BY held_until, studio_id, class_id LIMIT $1
"""


async def run_out_holds(
    conn: Connection, most: int, after: tuple[datetime, str, str] | None
) -> list[asyncpg.Record]:
    """Across all studios, for the loop that expires them: their studios, classes and ends."""
    return await conn.fetch(RUN_OUT_HOLDS, most, *(after or (None, None, None)))


HOLDS_OF_SUSPENDED = """
SELECT b.studio_id, b.class_id, b.held_until FROM bookings b
JOIN members m ON m.studio_id = b.studio_id AND m.id = b.member_id AND m.suspended
WHERE b.status = 'held'
  AND ($2::timestamptz IS NULL
       OR b.held_until >= $2 AND (b.held_until, b.studio_id, b.class_id) > ($2, $3::uuid, $4::uuid))
ORDER BY b.held_until, b.studio_id, b.class_id LIMIT $1
"""


async def holds_of_suspended(
    conn: Connection, most: int, after: tuple[datetime, str, str] | None
) -> list[asyncpg.Record]:
    """The same for the loop that releases those of suspended members."""
    return await conn.fetch(HOLDS_OF_SUSPENDED, most, *(after or (None, None, None)))


CLASSES_WITH_HOLDS = """
SELECT DISTINCT class_id FROM bookings
WHERE studio_id = $1 AND status = 'held' AND (held_by = $2 OR member_id = ANY ($3::uuid[])) ORDER BY class_id
"""


async def classes_with_holds(
    conn: Connection, caller: Caller, *, held_by: str | None = None, member_ids: list[str] | None = None
) -> list[str]:
    """Those of a client, or of members, in id order."""
    rows = await conn.fetch(CLASSES_WITH_HOLDS, caller.studio_id, held_by, member_ids)
    return [row["class_id"] for row in rows]


LIVE_OF_MEMBER = """
SELECT id, status FROM bookings WHERE studio_id = $1 AND class_id = $2 AND member_id = $3
  AND status IN ('held', 'confirmed', 'checked_in', 'waitlisted') AND (status <> 'held' OR held_until > $4)
"""


async def live_of_member(
    conn: Connection, caller: Caller, class_id: str, member_id: str, now: datetime
) -> LiveBooking | None:
    row = await conn.fetchrow(LIVE_OF_MEMBER, caller.studio_id, class_id, member_id, now)
    return msgspec.convert(dict(row), LiveBooking) if row else None


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
