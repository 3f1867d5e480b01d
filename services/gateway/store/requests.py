"""The request log. Lists bind studio and client; ids grow with time."""

from collections.abc import Sequence
from typing import Any

from services.gateway.wire.request import LoggedRequest, RequestsQuery
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.pages import Page, page_of, resolve_cursor

ADD = """
INSERT INTO requests (studio_id, client_id, id, request_id, at, method, route, status, status_class,
    error_code, duration_ms, key_id)
SELECT studio_id, client_id, id, request_id, to_timestamp(at), method, route, status, status / 100,
    error_code, duration_ms, key_id
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::float8[], $6::text[], $7::text[],
    $8::smallint[], $9::text[], $10::float8[], $11::uuid[])
    AS row (studio_id, client_id, id, request_id, at, method, route, status, error_code, duration_ms, key_id)
"""


async def add(conn: Connection, columns: Sequence[Sequence[Any]]) -> None:
    """One statement for all rows, given by column."""
    await conn.execute(ADD, *columns)


LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
CURSOR = "SELECT id FROM requests WHERE studio_id = $1 AND client_id = $2 AND id = $3"
# Each combination of filters is a statement of its own, so that each uses its index.
LIST = """
SELECT id, request_id, at, method, route, status, error_code, duration_ms, key_id FROM requests
WHERE studio_id = $1 AND client_id = $2 AND id < $3 {filters}
ORDER BY id DESC LIMIT $4
"""
ALL = LIST.format(filters="")
BY_STATUS = LIST.format(filters="AND status_class = $5")
BY_REQUEST_ID = LIST.format(filters="AND request_id = $5")
BY_BOTH = LIST.format(filters="AND request_id = $5 AND status_class = $6")


async def page(conn: Connection, caller: Caller, query: RequestsQuery) -> Page[LoggedRequest]:
    """Newest first."""
    bound = (caller.studio_id, caller.client_id)
    row = await resolve_cursor(conn, CURSOR, query.cursor, *bound)
    before = row["id"] if row is not None else LAST_ID
    statement, filters = _filtered(query)
    rows = await conn.fetch(statement, *bound, before, query.limit + 1, *filters)
    return page_of([LoggedRequest(**row) for row in rows], query.limit)


def _filtered(query: RequestsQuery) -> tuple[str, list[Any]]:
    status_class = int(query.status_class[0]) if query.status_class else None
    if query.request_id is not None:
        both = status_class is not None
        return (BY_BOTH if both else BY_REQUEST_ID), [query.request_id, *([status_class] if both else [])]
    return (BY_STATUS, [status_class]) if status_class is not None else (ALL, [])


# Of all studios, a batch at a time.
DELETE_OLD = """
WITH gone AS (
    DELETE FROM requests WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM requests WHERE at < clock_timestamp() - interval '7 days' LIMIT $1))
    RETURNING 1
)
SELECT count(*) FROM gone
"""


async def delete_old(conn: Connection, limit: int) -> int:
    return int(await conn.fetchval(DELETE_OLD, limit))
