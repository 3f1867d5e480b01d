"""Memberships. Change them only under their member's lock."""

from datetime import datetime
from typing import Any

import asyncpg
import msgspec

from services.bookings.rules.booking_facts import MembershipFacts
from services.bookings.store.keyset_pages import Filters, ListedTable, fetch_one, fetch_page
from services.bookings.wire.members import Membership
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.pages import Page, page_of
from shared.wire import PageQuery

WIRE_COLUMNS = """
t.id, t.member_id, t.product_id, t.status, t.auto_renew, t.state_version, t.pause, t.cancellation
"""
TABLE = ListedTable(table="memberships", columns=WIRE_COLUMNS, located=False)


def membership_of(values: dict[str, Any]) -> Membership:
    """Pause and cancellation are stored as JSON, so their timestamps are text until converted."""
    return msgspec.convert({"object": "membership", **values}, Membership)


async def list_page(conn: Connection, caller: Caller, member_id: str, query: PageQuery) -> Page[Membership]:
    filters = Filters(narrow={"member_id": member_id})
    rows = await fetch_page(conn, caller, TABLE, filters, query)
    return page_of([membership_of(row) for row in rows], query.limit)


async def get(conn: Connection, caller: Caller, membership_id: str) -> Membership:
    return membership_of(await fetch_one(conn, caller, TABLE, membership_id))


TERM = """
SELECT status, starts_at, ends_at, auto_renew, (pause ->> 'resumes_at')::timestamptz AS resumes_at,
    (cancellation ->> 'effective_at')::timestamptz AS effective_at, clock_timestamp() AS now
FROM memberships WHERE studio_id = $1 AND id = $2
"""


async def term(conn: Connection, caller: Caller, membership_id: str) -> tuple[MembershipFacts, datetime]:
    """What its dates depend on, and the database's clock."""
    row: asyncpg.Record | None = await conn.fetchrow(TERM, caller.studio_id, membership_id)
    assert row is not None
    values = dict(row)
    now = values.pop("now")
    return msgspec.convert(values, MembershipFacts), now


DUE = """
SELECT studio_id, id, due_at FROM memberships
WHERE due_at <= clock_timestamp()
  AND ($2::timestamptz IS NULL OR due_at >= $2 AND (due_at, studio_id, id) > ($2, $3::uuid, $4::uuid))
ORDER BY due_at, studio_id, id LIMIT $1
"""


async def due(conn: Connection, most: int, after: tuple[datetime, str, str] | None) -> list[asyncpg.Record]:
    """Across all studios, for the loop that updates memberships."""
    return await conn.fetch(DUE, most, *(after or (None, None, None)))


CHANGE = """
UPDATE memberships SET status = $3, auto_renew = $4, pause = $5, cancellation = $6, state_version = $7
WHERE studio_id = $1 AND id = $2
"""


async def change(conn: Connection, caller: Caller, changed: Membership) -> None:
    values = changed.status, changed.auto_renew, changed.pause, changed.cancellation, changed.state_version
    await conn.execute(CHANGE, caller.studio_id, changed.id, *values)
