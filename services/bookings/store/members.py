"""Members of the studio."""

from datetime import datetime
from typing import Any, TypeVar

from services.bookings.store.keyset_pages import Filters, ListedTable, fetch_one, fetch_page
from services.bookings.wire.members import Member, MemberCreate, StaffMember
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.wire import PageQuery

WIRE_COLUMNS = """
t.id, t.name, t.first_name, t.last_name, t.email, t.role, t.membership_type, t.membership_start_date,
t.membership_end_date, t.created_at
"""
TABLES: dict[type[Member], ListedTable] = {
    Member: ListedTable(table="members", columns=WIRE_COLUMNS, located=False),
    StaffMember: ListedTable(
        table="members", columns=f"{WIRE_COLUMNS}, t.phone, t.suspended, t.credits", located=False
    ),
}
M = TypeVar("M", bound=Member)


async def list_page(
    conn: Connection, caller: Caller, query: PageQuery, shown: type[M], *, email: str | None
) -> list[M]:
    """`shown` is what partners see, or what staff see."""
    filters = Filters(narrow={"email": email})
    rows = await fetch_page(conn, caller, TABLES[shown], filters, query)
    return [shown(**row) for row in rows]


async def get(conn: Connection, caller: Caller, member_id: str, shown: type[M]) -> M:
    return shown(**await fetch_one(conn, caller, TABLES[shown], member_id))


INSERT = """
INSERT INTO members (studio_id, id, name, first_name, last_name, email, phone, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())
ON CONFLICT (studio_id, email) DO NOTHING
RETURNING created_at
"""


async def insert(
    conn: Connection, caller: Caller, member_id: str, body: MemberCreate, *, name: str, email: str
) -> datetime | None:
    """The creation time, or None if another member has the email."""
    values: tuple[Any, ...] = (name, body.first_name, body.last_name, email, body.phone)
    created: datetime | None = await conn.fetchval(INSERT, caller.studio_id, member_id, *values)
    return created


BY_EMAIL = "SELECT id FROM members WHERE studio_id = $1 AND email = $2"


async def id_by_email(conn: Connection, caller: Caller, email: str) -> str | None:
    member_id: str | None = await conn.fetchval(BY_EMAIL, caller.studio_id, email)
    return member_id


ERASE = """
UPDATE members SET name = 'Erased', first_name = 'Erased', last_name = '', email = NULL, phone = NULL,
    membership_type = NULL, version = version + 1
WHERE studio_id = $1 AND id = $2 RETURNING version
"""
# Free text that staff or partners wrote about the person.
ERASE_MEMBERSHIPS = """
UPDATE memberships SET pause = CASE WHEN pause IS NOT NULL THEN pause || '{"reason": null}' END,
    cancellation = CASE WHEN cancellation IS NOT NULL THEN cancellation || '{"reason": null}' END,
    state_version = state_version + 1
WHERE studio_id = $1 AND member_id = $2
  AND (pause ->> 'reason' IS NOT NULL OR cancellation ->> 'reason' IS NOT NULL)
RETURNING id
"""
ERASE_REASONS = """
UPDATE cancellations SET reason = NULL
WHERE studio_id = $1 AND booking_id IN (SELECT id FROM bookings WHERE studio_id = $1 AND member_id = $2)
"""


async def erase(conn: Connection, caller: Caller, member_id: str) -> tuple[int, list[str]]:
    """The row stays, so that counts and history stay correct; personal data goes.

    The member's new version, and the ids of the memberships that have changed with it.
    """
    version: int = await conn.fetchval(ERASE, caller.studio_id, member_id)
    rows = await conn.fetch(ERASE_MEMBERSHIPS, caller.studio_id, member_id)
    await conn.execute(ERASE_REASONS, caller.studio_id, member_id)
    return version, [row["id"] for row in rows]
