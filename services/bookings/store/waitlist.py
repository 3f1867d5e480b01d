"""Waitlist entries: read and listed."""

from services.bookings.store.listing import Filters, Listed, fetch_page, shown
from services.bookings.store.rows import ENTRY_COLUMNS, EntryRow, entry_row
from services.bookings.wire.waitlist import WaitlistEntry, WaitlistQuery, WaitlistStatus
from shared.db.database import Connection
from shared.http.caller import Caller

SHOWN_COLUMNS = """
t.id, t.class_id, t.member_id, t.position, t.status, t.status = 'converted' AS converted_to_booking
"""
LISTED = Listed(table="waitlist", columns=SHOWN_COLUMNS, statuses=tuple(WaitlistStatus))


async def list_page(conn: Connection, caller: Caller, query: WaitlistQuery) -> list[WaitlistEntry]:
    filters = Filters(narrow={"class_id": query.class_id, "member_id": query.member_id}, status=query.status)
    rows = await fetch_page(conn, caller, LISTED, filters, cursor=query.cursor, limit=query.limit)
    return [WaitlistEntry(**shown(row)) for row in rows]


GET = f"SELECT {SHOWN_COLUMNS}, t.location_id FROM waitlist t WHERE t.studio_id = $1 AND t.id = $2"  # noqa: S608


async def get(conn: Connection, caller: Caller, entry_id: str) -> WaitlistEntry | None:
    row = await conn.fetchrow(GET, caller.studio_id, entry_id)
    if row is None or not caller.may_see(row["location_id"]):
        return None
    values = dict(row)
    values.pop("location_id")
    return WaitlistEntry(**values)


READ_WAITING = f"""
SELECT {ENTRY_COLUMNS} FROM waitlist
WHERE studio_id = $1 AND class_id = $2 AND status = 'waiting' ORDER BY position
"""  # noqa: S608


async def read_waiting(conn: Connection, caller: Caller, class_id: str) -> list[EntryRow]:
    """In order, under the class's lock."""
    return [entry_row(row) for row in await conn.fetch(READ_WAITING, caller.studio_id, class_id)]
