"""Requests and errors of each key, by the hour. `store/requests.py` counts them."""

from datetime import datetime

from services.gateway.wire.request import KeyUsage
from shared.db.database import Connection
from shared.http.pages import Page, page_of, start_after

CURSOR = "SELECT created_at, id FROM keys WHERE ($1::uuid IS NULL OR studio_id = $1) AND id = $2"
# A page reads at most 744 hours of each of its keys.
LIST = """
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


async def page(
    conn: Connection, studio_id: str | None, *, since: datetime | None, cursor: str | None, limit: int
) -> Page[KeyUsage]:
    """All studios' keys if `studio_id` is None, oldest first."""
    at, after = await start_after(conn, CURSOR, cursor, studio_id)
    rows = await conn.fetch(LIST, studio_id, at, after, since, limit + 1)
    return page_of([KeyUsage(**row) for row in rows], limit)


# Of all studios, a batch at a time.
DELETE_OLD = """
WITH gone AS (
    DELETE FROM key_usage WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM key_usage WHERE hour < clock_timestamp() - interval '31 days' LIMIT $1))
    RETURNING 1
)
SELECT count(*) FROM gone
"""


async def delete_old(conn: Connection, limit: int) -> int:
    return int(await conn.fetchval(DELETE_OLD, limit))
