"""Memberships, changed under their member's lock."""

from datetime import datetime
from typing import Any

import asyncpg
import msgspec
from msgspec import Struct

from services.bookings.store.listing import Filters, Listed, fetch_page, shown
from services.bookings.wire.memberships import Cancellation, Membership, MembershipStatus, Pause
from shared.caller import Caller
from shared.database import Connection
from shared.wire import PageQuery

SHOWN_COLUMNS = """
t.id, t.member_id, t.product_id, t.status, t.auto_renew, t.state_version, t.pause, t.cancellation
"""
LISTED = Listed(table="memberships", columns=SHOWN_COLUMNS, located=False)


def _membership(values: dict[str, Any]) -> Membership:
    """Pause and cancellation are kept as JSON: their instants are text until they are converted."""
    return msgspec.convert({"object": "membership", **values}, Membership)


async def list_page(conn: Connection, caller: Caller, member_id: str, query: PageQuery) -> list[Membership]:
    filters = Filters(narrow={"member_id": member_id})
    rows = await fetch_page(conn, caller, LISTED, filters, cursor=query.cursor, limit=query.limit)
    return [_membership(shown(row)) for row in rows]


GET = f"SELECT {SHOWN_COLUMNS} FROM memberships t WHERE t.studio_id = $1 AND t.id = $2"  # noqa: S608


async def get(conn: Connection, caller: Caller, membership_id: str) -> Membership | None:
    row = await conn.fetchrow(GET, caller.studio_id, membership_id)
    return _membership(dict(row)) if row else None


class Term(Struct, frozen=True, kw_only=True):
    ends_at: datetime | None
    now: datetime


TERM = "SELECT ends_at, clock_timestamp() AS now FROM memberships WHERE studio_id = $1 AND id = $2"


async def term(conn: Connection, caller: Caller, membership_id: str) -> Term:
    row: asyncpg.Record | None = await conn.fetchrow(TERM, caller.studio_id, membership_id)
    assert row is not None
    return Term(ends_at=row["ends_at"], now=row["now"])


CHANGE = """
UPDATE memberships SET status = $3, auto_renew = $4, pause = $5, cancellation = $6,
    state_version = state_version + 1
WHERE studio_id = $1 AND id = $2
"""


async def change(
    conn: Connection,
    caller: Caller,
    membership_id: str,
    *,
    status: MembershipStatus,
    auto_renew: bool,
    pause: Pause | None,
    cancellation: Cancellation | None,
) -> None:
    await conn.execute(CHANGE, caller.studio_id, membership_id, status, auto_renew, pause, cancellation)
