"""Keyset pagination: cursor, limit, list envelope. Every page costs the same, however deep it is."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar

import asyncpg
from msgspec import Struct

from shared.db.database import Connection
from shared.errors import InvalidCursor
from shared.wire import encode, is_id

T = TypeVar("T")
R = TypeVar("R")

# Sorts before every row, so that one statement serves the first page and all later ones.
START = (datetime(1, 1, 1, tzinfo=UTC), "00000000-0000-0000-0000-000000000000")
# Sorts after every row: where a list begins that shows the newest first.
END = (datetime(9999, 1, 1, tzinfo=UTC), "ffffffff-ffff-ffff-ffff-ffffffffffff")


# A page ends here, whatever its limit.
MAX_PAGE_BYTES = 512 * 1024
# A page of the usual size takes two queries.
FIRST_PORTION, PORTION = 17, 34


class Page(Struct, Generic[T], kw_only=True):
    object: Literal["list"] = "list"
    data: list[T]
    has_more: bool
    next_cursor: str | None


def whole_page(rows: list[T]) -> Page[T]:
    """A list that is never divided."""
    return Page(data=rows, has_more=False, next_cursor=None)


def short_page(page: Page[Any]) -> Page[Any]:
    """The rows that fit into MAX_PAGE_BYTES, at least one, and the cursor of the last one shown."""
    size = 0
    for count, row in enumerate(page.data):
        size += len(encode(row)) + 1
        if size > MAX_PAGE_BYTES and count:
            return Page(data=page.data[:count], has_more=True, next_cursor=page.data[count - 1].id)
    return page


async def fetch_by_size(
    fetch: Callable[[Any, int], Awaitable[Sequence[R]]],
    after: Any,
    limit: int,
    *,
    place_of: Callable[[R], Any],
    size_of: Callable[[R], int],
) -> tuple[list[R], bool]:
    """Reads a page of rows that may be large, a few at a time. Also returns whether more follow.

    200 of them at once can be 50 MB, of which half a megabyte is shown. `fetch(after, count)` returns the
    rows that follow a position in the list's order.
    """
    rows: list[R] = []
    size, portion = 0, FIRST_PORTION
    while True:
        count = min(portion, limit + 1 - len(rows))
        found = await fetch(after, count)
        for row in found:
            size += size_of(row)
            if rows and (size > MAX_PAGE_BYTES or len(rows) == limit):
                return rows, True
            rows.append(row)
        if len(found) < count:
            return rows, False
        after, portion = place_of(rows[-1]), PORTION


def first_by_size(rows: Sequence[R], limit: int, size_of: Callable[[R], int]) -> tuple[Sequence[R], bool]:
    """As many of these rows as a page shows, and whether some are left."""
    size = 0
    for count, row in enumerate(rows):
        size += size_of(row)
        if count and (size > MAX_PAGE_BYTES or count == limit):
            return rows[:count], True
    return rows, False


async def page_by_size(
    conn: Connection, sql: str, args: Sequence[Any], after: Any, limit: int, read: Callable[[Any], T]
) -> Page[T]:
    """For a list ordered by (created_at, id). The statement takes `args`, the position and a count."""

    async def fetch(place: Any, count: int) -> Sequence[Any]:
        return await conn.fetch(sql, *args, *place, count)

    rows, more = await fetch_by_size(
        fetch, after, limit, place_of=lambda row: (row["created_at"], row["id"]), size_of=_text_size
    )
    return Page(data=[read(row) for row in rows], has_more=more, next_cursor=rows[-1]["id"] if more else None)


def _text_size(row: Any) -> int:
    return sum(len(value) for value in row if isinstance(value, str))


def page_of(rows: list[T], limit: int) -> Page[T]:
    """`rows` were fetched with `limit + 1`; the extra row only shows that there are more."""
    more = len(rows) > limit
    shown = rows[:limit] if more else rows
    return Page(data=shown, has_more=more, next_cursor=shown[-1].id if more else None)  # type: ignore[attr-defined]


# In JSON text neither can be part of a string, whose quotes are escaped.
ROW_START, ROW_BREAK = b'{"id":"', b',{"id":"'


class JsonRows(Struct, frozen=True):
    """Rows that the database has already encoded and joined with commas.

    They begin with their id and contain no object that does.
    """

    joined: bytes
    count: int


def json_page_of(rows: JsonRows, limit: int) -> bytes:
    """`page_of`, with the same bytes and the limit of `short_page`, and without a look at every row."""
    listed, more = rows.joined, rows.count > limit
    if more:
        listed = listed[: listed.rfind(ROW_BREAK)]
    if len(listed) > MAX_PAGE_BYTES:
        end = listed.rfind(ROW_BREAK, 0, MAX_PAGE_BYTES - 1 + len(ROW_BREAK))
        end = end if end >= 0 else listed.find(ROW_BREAK)
        if end >= 0:
            listed, more = listed[:end], True
    if not more:
        return b'{"object":"list","data":[%b],"has_more":false,"next_cursor":null}' % listed
    last = listed.rfind(ROW_START) + len(ROW_START)
    cursor = listed[last : listed.index(b'"', last)]
    return b'{"object":"list","data":[%b],"has_more":true,"next_cursor":"%b"}' % (listed, cursor)


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


async def start_after(
    conn: Connection, sql: str, cursor: str | None, *args: Any, order: str = "asc"
) -> tuple[datetime, str]:
    """`resolve_cursor` for lists ordered by (an instant, id): where the page begins."""
    row = await resolve_cursor(conn, sql, cursor, *args)
    if row is None:
        return END if order == "desc" else START
    return row[0], row[1]
