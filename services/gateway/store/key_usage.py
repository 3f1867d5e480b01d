"""Requests and errors of each key, by the hour. `store/requests.py` counts them."""

from services.gateway.wire.request import KeyUsage, UsageQuery
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


async def page(conn: Connection, studio_id: str | None, query: UsageQuery) -> Page[KeyUsage]:
    """All studios' keys if `studio_id` is None, oldest first."""
    at, after = await start_after(conn, CURSOR, query.cursor, studio_id)
    rows = await conn.fetch(LIST, studio_id, at, after, query.since, query.limit + 1)
    return page_of([KeyUsage(**row) for row in rows], query.limit)
