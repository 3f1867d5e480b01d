"""What the desk reads and writes: rosters, cancelled bookings, a search for members, a walk-in's rows."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import asdict

from services.bookings.rules.booking_facts import MemberFacts
from services.bookings.rules.class_times import clamp_to_supported_years
from services.bookings.rules.eligibility import membership_for
from services.bookings.store import bookings, save_class_changes
from services.bookings.store.bookings import LIVE_HOLD, BookingRow, add_class_start, of_status
from services.bookings.store.keyset_pages import Filters, ListedTable, LookUp, fetch_page
from services.bookings.store.members import TABLES
from services.bookings.store.waitlist import WaitlistRow
from services.bookings.wire.bookings import BookingStatus, RosterQuery
from services.bookings.wire.classes import Class
from services.bookings.wire.desk import MAX_CANCELLED, RosterEntry, StaffBooking, StaffBookingsQuery
from services.bookings.wire.members import StaffMember
from shared.db.database import Connection
from shared.db.timezones import studio_region
from shared.errors import Invalid, Problem
from shared.http.caller import Caller
from shared.http.pages import Page, page_of
from shared.phones import calling_code

# Looked up row by row, so that the list itself stays one scan of the class's bookings.
_OF_MEMBER = "(SELECT {} FROM members m WHERE m.studio_id = t.studio_id AND m.id = t.member_id)"
_VISITED = """
EXISTS (SELECT FROM bookings b WHERE b.studio_id = t.studio_id AND b.member_id = t.member_id
  AND b.status = 'checked_in' AND b.id <> t.id)
"""
ROSTER_COLUMNS = f"""{bookings.WIRE_COLUMNS},
{_OF_MEMBER.format("m.name")} AS member_name, {_OF_MEMBER.format("m.email")} AS member_email,
CASE WHEN t.status = 'checked_in' THEN t.updated_at END AS checked_in_at,
{_OF_MEMBER.format("m.membership_type")} AS membership_type, NOT {_VISITED} AS first_visit,
{_OF_MEMBER.format("member_facts(m)")} AS facts
"""
ROSTER_TABLE = ListedTable(table="bookings", columns=ROSTER_COLUMNS)
ON_ROSTER = [status.value for status in BookingStatus if status not in ("cancelled", "expired")]


async def list_roster(
    conn: Connection, caller: Caller, class_: Class, query: RosterQuery, now: datetime
) -> Page[RosterEntry]:
    """Who is expected, seated or waiting, in the order of their bookings."""
    status, also = (tuple(ON_ROSTER), LIVE_HOLD) if query.status is None else of_status(query.status)
    filters = Filters(narrow={"class_id": class_.id}, status=status, also=also)
    rows = await fetch_page(conn, caller, ROSTER_TABLE, filters, query)
    return page_of([_roster_entry(row, class_.start_time, now) for row in rows], query.limit)


def _roster_entry(row: dict[str, Any], start: datetime, now: datetime) -> RosterEntry:
    member = msgspec.json.decode(row.pop("facts"), type=MemberFacts)
    word = membership_for(member, start, now)
    return RosterEntry(**row, credits=member.credits, suspended=member.suspended, membership_status=word)


_OF_CLASS = "(SELECT {} FROM classes c WHERE c.studio_id = t.studio_id AND c.id = t.class_id)"
STAFF_TABLE = ListedTable(
    table="bookings",
    columns=f"""{bookings.WIRE_COLUMNS}, {_OF_MEMBER.format("m.name")} AS member_name,
{_OF_CLASS.format("c.title")} AS class_title, {_OF_CLASS.format("c.start_time")} AS start_time""",
    statuses=tuple(BookingStatus),
    part="only_held",
)
CANCELLED = "SELECT c.booking_id FROM cancellations c WHERE c.studio_id = $1 AND c.cancelled_at >= {}"
WAS_CANCELLED = """
EXISTS (SELECT FROM cancellations c WHERE c.studio_id = t.studio_id AND c.booking_id = t.id
  AND c.cancelled_at >= {})
"""
TOO_MANY = f"""
SELECT count(*) > {MAX_CANCELLED} FROM (
    SELECT FROM cancellations WHERE studio_id = $1 AND cancelled_at >= $2 LIMIT {MAX_CANCELLED + 1}) c
"""  # noqa: S608


async def list_bookings(conn: Connection, caller: Caller, query: StaffBookingsQuery) -> Page[StaffBooking]:
    status, also = of_status(query.status)
    narrow = {"class_id": query.class_id, "member_id": query.member_id}
    filters = Filters(narrow=narrow, status=status, also=also)
    await add_class_start(conn, caller, filters, query)
    await _add_cancelled(conn, caller, filters, query)
    rows = await fetch_page(conn, caller, STAFF_TABLE, filters, query)
    receipts = await save_class_changes.receipts_of(conn, caller, [row["id"] for row in rows])
    shown = [
        StaffBooking(**row, receipt=receipt, late_cancel=receipt.late_cancel if receipt else None)
        for row in rows
        for receipt in [receipts.get(row["id"])]
    ]
    return page_of(shown, query.limit)


async def _add_cancelled(
    conn: Connection, caller: Caller, filters: Filters, query: StaffBookingsQuery
) -> None:
    if query.cancelled_since is None:
        return
    since = clamp_to_supported_years(query.cancelled_since)
    if any(filters.narrow.values()) or filters.look_up is not None:
        filters.where = [*filters.where, (WAS_CANCELLED, since)]
        return
    if await conn.fetchval(TOO_MANY, caller.studio_id, since):
        text = f"Over {MAX_CANCELLED} bookings were cancelled since then. Choose a later time."
        raise Invalid([Problem(("query", "cancelled_since"), text, "range_too_wide")])
    filters.look_up = LookUp("id", CANCELLED, (since,))


# The end of every text that begins with a prefix, in the order of the indexes.
_LAST = "\U0010ffff"
_NAMES = ("lower(name)", "lower(last_name)", "email")
_PHONE = "regexp_replace(phone, '[^0-9]', '', 'g')"
# One short scan for each way to find somebody: however many there are, a search reads a few pages of rows.
BEGINS = """
(SELECT id FROM members WHERE studio_id = $1 AND {column} ~>=~ {start}::text
   AND {column} ~<~ ({start} || $3::text)
 ORDER BY {column} USING ~<~ LIMIT $2)
"""
SEARCH = """
SELECT {columns} FROM members t WHERE t.studio_id = $1 AND t.id = ANY (ARRAY({found}))
ORDER BY lower(t.name), t.id LIMIT $2
"""


async def search_members(conn: Connection, caller: Caller, text: str, limit: int) -> list[StaffMember]:
    typed = " ".join(text.lower().split())
    ways = [(column, typed) for column in _NAMES]
    if (digits := "".join(filter(str.isdigit, typed))) and not any(map(str.isalpha, typed)):
        code = calling_code(await studio_region(conn, caller.studio_id))
        national = [f"{code}{digits.lstrip('0')}"] if code and "+" not in typed else []
        ways = [(_PHONE, number) for number in (digits, *national)]
    scans = [BEGINS.format(column=column, start=f"${at}") for at, (column, _) in enumerate(ways, 4)]
    sql = SEARCH.format(columns=TABLES[StaffMember].columns, found=" UNION ".join(scans))
    rows = await conn.fetch(sql, caller.studio_id, limit, _LAST, *(start for _, start in ways))
    return [StaffMember(**dict(row)) for row in rows]


INSERT_BOOKING = """
INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, booking_source, class_spot_id,
    credits_charged, created_at, updated_at)
SELECT $1, id, class_id, member_id, location_id, status, booking_source, class_spot_id, credits_charged,
    created_at, updated_at
FROM jsonb_populate_record(NULL::bookings, $2)
"""
INSERT_ENTRY = """
INSERT INTO waitlist (studio_id, id, class_id, member_id, booking_id, location_id, position, status,
    created_at, updated_at)
SELECT $1, id, class_id, member_id, booking_id, location_id, position, status, $3, $3
FROM jsonb_populate_record(NULL::waitlist, $2)
"""


async def insert(conn: Connection, caller: Caller, booking: BookingRow, entry: WaitlistRow | None) -> None:
    await conn.execute(INSERT_BOOKING, caller.studio_id, asdict(booking))
    if entry is not None:
        await conn.execute(INSERT_ENTRY, caller.studio_id, asdict(entry), booking.created_at)


WAIVE = """
UPDATE cancellations SET late_fee_status = 'waived'
WHERE studio_id = $1 AND booking_id = $2 AND late_fee_status = 'assessed' RETURNING id
"""


async def waive_fee(conn: Connection, caller: Caller, booking_id: str) -> bool:
    """False if there is nothing to waive. The receipt keeps the amount."""
    return await conn.fetchval(WAIVE, caller.studio_id, booking_id) is not None


# Names for audit entries, by the first word of an action.
_PERSON = "SELECT t.id, m.name{} FROM {} t JOIN members m ON m.studio_id = t.studio_id AND m.id = t.member_id"
_IN_CLASS = " JOIN classes c ON c.studio_id = t.studio_id AND c.id = t.class_id"
NAMES = {
    "classes": "SELECT t.id, t.title FROM classes t",
    "members": "SELECT t.id, t.name FROM members t",
    "bookings": _PERSON.format(" || ' · ' || c.title", "bookings") + _IN_CLASS,
    "waitlist": _PERSON.format(" || ' · ' || c.title", "waitlist") + _IN_CLASS,
    "memberships": _PERSON.format("", "memberships"),
    "purchases": _PERSON.format(" || ' · ' || t.product_key", "purchases"),
}
