"""The request log, and the use of keys. Lists of requests bind studio and client; ids grow with time."""

from collections.abc import Sequence
from typing import Any

from services.gateway.wire.request import ClientRequest, KeyUsage, LoggedRequest, RequestsQuery, UsageQuery
from shared.db.database import Connection
from shared.errors import InvalidCursor
from shared.http.caller import Caller
from shared.http.pages import Page, page_of, resolve_cursor, start_after
from shared.percentiles import BOUNDS
from shared.wire import is_id

# One JSON array for all rows: arrays for each column took the gateway 16 µs of CPU a row instead of 6.
# Counted in the same statement, so that a batch that is written again counts once. Sorted, because two
# gateways that count the same keys would otherwise deadlock.
ADD = """
WITH added AS (
    INSERT INTO requests (studio_id, client_id, key_id, id, request_id, at, method, route, status,
        status_class, error_code, duration_ms, source)
    SELECT (row ->> 0)::uuid, (row ->> 1)::uuid, (row ->> 2)::uuid, (row ->> 3)::uuid, row ->> 4,
        to_timestamp((row ->> 5)::float8), row ->> 6, row ->> 7, (row ->> 8)::smallint,
        (row ->> 8)::smallint / 100, row ->> 9, (row ->> 10)::float8, row ->> 11
    FROM jsonb_array_elements($1) AS row
    RETURNING studio_id, client_id, key_id, at, status, status_class, duration_ms, source
), minutes AS (
    INSERT INTO request_minutes (studio_id, client_id, source, minute, bucket, status_2xx, status_3xx,
        status_4xx, status_5xx)
    SELECT studio_id, client_id, source, date_bin('1 minute', at, timestamptz '2000-01-01 00:00:00+00') AS m,
        width_bucket(duration_ms, $3::float8[]) AS bucket, count(*) FILTER (WHERE status_class = 2),
        count(*) FILTER (WHERE status_class = 3), count(*) FILTER (WHERE status_class = 4),
        count(*) FILTER (WHERE status_class = 5)
    FROM added GROUP BY studio_id, client_id, source, m, bucket
    ORDER BY studio_id, client_id, source, m, bucket
    ON CONFLICT (studio_id, client_id, source, minute, bucket) DO UPDATE
    SET status_2xx = request_minutes.status_2xx + excluded.status_2xx,
        status_3xx = request_minutes.status_3xx + excluded.status_3xx,
        status_4xx = request_minutes.status_4xx + excluded.status_4xx,
        status_5xx = request_minutes.status_5xx + excluded.status_5xx
), counted AS (
    SELECT studio_id, client_id, key_id, at, 1 AS requests, (status >= 400)::int AS errors FROM added
    UNION ALL
    SELECT (row ->> 0)::uuid, (row ->> 1)::uuid, (row ->> 2)::uuid, clock_timestamp(), (row ->> 3)::int,
        (row ->> 4)::int
    FROM jsonb_array_elements($2) AS row
)
INSERT INTO key_usage (studio_id, client_id, key_id, hour, requests, errors)
SELECT studio_id, client_id, key_id, date_bin('1 hour', at, timestamptz '2000-01-01 00:00:00+00') AS hour,
    sum(requests), sum(errors)
FROM counted
GROUP BY studio_id, client_id, key_id, hour
ORDER BY studio_id, client_id, key_id, hour
ON CONFLICT (studio_id, client_id, key_id, hour) DO UPDATE
SET requests = key_usage.requests + excluded.requests, errors = key_usage.errors + excluded.errors
"""


async def add(conn: Connection, rows: Sequence[tuple[Any, ...]], left_out: Sequence[Sequence[Any]]) -> None:
    """Rows of studio, client, key, id, request id, time, method, route, status, error code, milliseconds,
    source; and of studio, client, key, number of requests and of errors that are only counted."""
    await conn.execute(ADD, rows, left_out, BOUNDS)


LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
CURSOR = "SELECT id FROM requests WHERE studio_id = $1 AND client_id = $2 AND id = $3"
# Each combination of filters has its own statement, so that each uses its index.
COLUMNS = """
id, request_id, at, method, route, status, error_code, duration_ms, key_id, source,
(SELECT k.name FROM keys k WHERE k.id = key_id) AS key_name,
(SELECT k.prefix FROM keys k WHERE k.id = key_id) AS key_prefix
"""
LIST = f"""
SELECT {COLUMNS} FROM requests
WHERE studio_id = $1 AND client_id = $2 AND id < $3 {{filters}}
ORDER BY id DESC LIMIT $4
"""  # noqa: S608


async def page(conn: Connection, caller: Caller, query: RequestsQuery) -> Page[LoggedRequest]:
    """Newest first."""
    bound = (caller.studio_id, caller.client_id)
    row = await resolve_cursor(conn, CURSOR, query.cursor, *bound)
    before = row["id"] if row is not None else LAST_ID
    filters, given = _filters(query)
    rows = await conn.fetch(LIST.format(filters=filters), *bound, before, query.limit + 1, *given)
    return page_of([LoggedRequest(**row) for row in rows], query.limit)


def _filters(query: RequestsQuery) -> tuple[str, list[Any]]:
    """Conditions with the parameters from the fifth on, and their values."""
    wanted = {
        "status_class": int(query.status_class[0]) if query.status_class else None,
        "request_id": query.request_id,
        "route": query.route,
        "error_code": query.error_code,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    filters = "".join(f" AND {name} = ${number}" for number, name in enumerate(given, 5))
    if query.source is not None:
        # Not a parameter: the index is of one of them.
        filters += f" AND source = '{query.source}'"
    return filters, list(given.values())


# One short scan for each client: one of them, or all of a studio or of all studios for a request id.
CLIENTS = f"""
SELECT r.*, c.studio_id, c.id AS client_id, c.name AS client_name
FROM clients c CROSS JOIN LATERAL (
    SELECT {COLUMNS} FROM requests
    WHERE studio_id = c.studio_id AND client_id = c.id AND id < $3 {{filters}} ORDER BY id DESC LIMIT $4) r
WHERE ($1::uuid IS NULL OR c.studio_id = $1) AND ($2::uuid IS NULL OR c.id = $2)
ORDER BY r.id DESC LIMIT $4
"""  # noqa: S608


async def client_page(
    conn: Connection, studio_id: str | None, client_id: str | None, query: RequestsQuery
) -> Page[ClientRequest]:
    """Newest first. Without a client, `query` has to name a request id."""
    if query.cursor is not None and not is_id(query.cursor):
        raise InvalidCursor
    filters, given = _filters(query)
    before = query.cursor or LAST_ID
    statement = CLIENTS.format(filters=filters)
    rows = await conn.fetch(statement, studio_id, client_id, before, query.limit + 1, *given)
    return page_of([ClientRequest(**row) for row in rows], query.limit)


# Requests and errors of each key, by the hour.
KEY_CURSOR = "SELECT created_at, id FROM keys WHERE ($1::uuid IS NULL OR studio_id = $1) AND id = $2"
# A page reads at most 744 hours of each of its keys.
USAGE = """
WITH page AS (
    SELECT k.id, k.studio_id, k.client_id, k.name, k.prefix, k.last_used_at, k.created_at FROM keys k
    WHERE ($1::uuid IS NULL OR k.studio_id = $1) AND (k.created_at, k.id) > ($2, $3)
    ORDER BY k.created_at, k.id LIMIT $5
)
SELECT p.id, p.studio_id, p.client_id, c.name AS client_name, p.name, p.prefix, p.last_used_at,
    used.requests, used.errors
FROM page p
JOIN clients c ON c.studio_id = p.studio_id AND c.id = p.client_id
CROSS JOIN LATERAL (
    SELECT coalesce(sum(u.requests), 0)::bigint AS requests, coalesce(sum(u.errors), 0)::bigint AS errors
    FROM key_usage u
    WHERE u.studio_id = p.studio_id AND u.client_id = p.client_id AND u.key_id = p.id
        AND ($4::timestamptz IS NULL OR u.hour > $4 - interval '1 hour')
) AS used
ORDER BY p.created_at, p.id
"""


async def usage_page(conn: Connection, studio_id: str | None, query: UsageQuery) -> Page[KeyUsage]:
    """All studios' keys if `studio_id` is None, oldest first."""
    at, after = await start_after(conn, KEY_CURSOR, query.cursor, studio_id)
    rows = await conn.fetch(USAGE, studio_id, at, after, query.since, query.limit + 1)
    return page_of([KeyUsage(**row) for row in rows], query.limit)
