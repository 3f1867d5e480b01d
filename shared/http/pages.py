"""Cursor, limit, list envelope. A page costs the same at the first row and at the millionth."""

from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar

import asyncpg
import msgspec
from msgspec import Struct

from shared.db.database import Connection
from shared.errors import InvalidCursor
from shared.wire import is_id

T = TypeVar("T")

# Before every row: with it one statement serves the first page and all later ones.
START = (datetime(1, 1, 1, tzinfo=UTC), "00000000-0000-0000-0000-000000000000")


class Page(Struct, Generic[T], kw_only=True):
    object: Literal["list"] = "list"
    data: list[T]
    has_more: bool
    next_cursor: str | None


def page_of(rows: list[T], limit: int) -> Page[T]:
    """`rows` were asked for with `limit + 1`: the extra one only tells that there is more."""
    more = len(rows) > limit
    shown = rows[:limit] if more else rows
    return Page(data=shown, has_more=more, next_cursor=shown[-1].id if more else None)  # type: ignore[attr-defined]


class _Named(Struct):
    id: str


def json_page_of(rows: list[str], limit: int) -> bytes:
    """`page_of` for rows that are JSON already, to the same bytes. Only the last one shown is looked into."""
    more = len(rows) > limit
    shown = rows[:limit] if more else rows
    cursor = f'"{msgspec.json.decode(shown[-1], type=_Named).id}"' if more else "null"
    end = f'],"has_more":{"true" if more else "false"},"next_cursor":{cursor}}}'
    return f'{{"object":"list","data":[{",".join(shown)}{end}'.encode()


async def resolve_cursor(conn: Connection, sql: str, cursor: str | None, *args: Any) -> asyncpg.Record | None:
    """The sort key of the row that `cursor` names, or None for the first page.

    `sql` takes `*args` and then the cursor's id. It leaves the caller's filters out, so that a row that has
    left the filter since the last page still marks its place, but binds studio and permitted locations.
    """
    if cursor is None:
        return None
    if not is_id(cursor):
        raise InvalidCursor
    row: asyncpg.Record | None = await conn.fetchrow(sql, *args, cursor.lower())
    if row is None:
        raise InvalidCursor
    return row


async def start_after(conn: Connection, sql: str, cursor: str | None, *args: Any) -> tuple[datetime, str]:
    """`resolve_cursor` for lists ordered by (an instant, id): where the page begins."""
    row = await resolve_cursor(conn, sql, cursor, *args)
    return START if row is None else (row[0], row[1])
