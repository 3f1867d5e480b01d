"""Reads and lists waitlist entries."""

import asyncpg
import msgspec
from msgspec import Struct

from services.bookings.store.keyset_pages import Filters, ListedTable, fetch_one, fetch_page
from services.bookings.wire.bookings import WaitlistEntry, WaitlistQuery, WaitlistStatus
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.pages import Page, page_of


class WaitlistRow(Struct, kw_only=True):
    id: str
    class_id: str
    member_id: str
    booking_id: str
    location_id: str | None
    position: int
    status: WaitlistStatus
    version: int = 1

    def to_wire(self) -> WaitlistEntry:
        return WaitlistEntry(
            id=self.id,
            class_id=self.class_id,
            member_id=self.member_id,
            position=self.position,
            status=self.status,
            converted_to_booking=self.status is WaitlistStatus.CONVERTED,
        )


WAITLIST_COLUMNS = "id, class_id, member_id, booking_id, location_id, position, status, version"


def waitlist_row(record: asyncpg.Record) -> WaitlistRow:
    return msgspec.convert(dict(record), WaitlistRow)


WIRE_COLUMNS = """
t.id, t.class_id, t.member_id, t.position, t.status, t.status = 'converted' AS converted_to_booking
"""
TABLE = ListedTable(table="waitlist", columns=WIRE_COLUMNS, statuses=tuple(WaitlistStatus))


async def list_page(conn: Connection, caller: Caller, query: WaitlistQuery) -> Page[WaitlistEntry]:
    filters = Filters(narrow={"class_id": query.class_id, "member_id": query.member_id}, status=query.status)
    rows = await fetch_page(conn, caller, TABLE, filters, query)
    return page_of([WaitlistEntry(**row) for row in rows], query.limit)


async def get(conn: Connection, caller: Caller, entry_id: str) -> WaitlistEntry:
    return WaitlistEntry(**await fetch_one(conn, caller, TABLE, entry_id))


READ_WAITING = f"""
SELECT {WAITLIST_COLUMNS} FROM waitlist
WHERE studio_id = $1 AND class_id = $2 AND status = 'waiting' ORDER BY position
"""  # noqa: S608


async def read_waiting(conn: Connection, caller: Caller, class_id: str) -> list[WaitlistRow]:
    """In order of position. Call it under the class's lock."""
    return [waitlist_row(row) for row in await conn.fetch(READ_WAITING, caller.studio_id, class_id)]


# An imported entry that has left the waitlist may have no booking; no caller needs such entries.
OF_CLASSES = f"""
SELECT {WAITLIST_COLUMNS.replace("booking_id", "coalesce(booking_id, id) AS booking_id")}
FROM waitlist WHERE studio_id = $1 AND class_id = ANY ($2::uuid[])
ORDER BY created_at, id
"""  # noqa: S608


async def of_classes(conn: Connection, caller: Caller, class_ids: list[str]) -> list[WaitlistRow]:
    return [waitlist_row(row) for row in await conn.fetch(OF_CLASSES, caller.studio_id, class_ids)]
