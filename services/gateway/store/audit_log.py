"""The audit log of all studios."""

from collections.abc import Sequence

from services.gateway.wire.request import AuditEntry, AuditQuery
from shared.db.database import Connection
from shared.http.pages import Page, page_of, start_after
from shared.wire import new_id

ADD = """
INSERT INTO audit_log (id, actor, action, target, request_id, studio_id)
VALUES ($1, $2, $3, $4, $5, (SELECT id FROM studios WHERE slug = $6 OR id::text = lower($6)))
"""


async def add(conn: Connection, *, actor: str, action: str, target: str, request_id: str, studio: str) -> str:
    """`studio` is a slug or an id, or empty."""
    entry_id = new_id()
    await conn.execute(ADD, entry_id, actor, action, target, request_id, studio)
    return entry_id


COMPLETE = """
UPDATE audit_log SET target = coalesce($2, target), studio_id = coalesce(studio_id, $3) WHERE id = $1
"""


async def complete(conn: Connection, entry_id: str, target: str | None, studio_id: str | None) -> None:
    """The id of a new resource, and sometimes the studio, is known only afterwards."""
    await conn.execute(COMPLETE, entry_id, target, studio_id)


REMOVE = "DELETE FROM audit_log WHERE id = $1"


async def remove(conn: Connection, entry_id: str) -> None:
    """Call it if the request was refused, so that nothing was done."""
    await conn.execute(REMOVE, entry_id)


CURSOR = "SELECT at, id FROM audit_log WHERE ($1::uuid IS NULL OR studio_id = $1) AND id = $2"
LIST = """
SELECT a.id, a.at, a.actor, a.action, a.target, a.request_id, a.studio_id, s.name AS studio_name,
    coalesce(t.name, 'Operator') AS actor_name, coalesce(t.role, 'operator') AS actor_role
FROM (
    SELECT * FROM audit_log WHERE (at, id) > ($1, $2) AND ($3::timestamptz IS NULL OR at >= $3) {filters}
    ORDER BY at, id LIMIT $4
) a
LEFT JOIN studios s ON s.id = a.studio_id
LEFT JOIN staff_tokens t ON t.id = CASE WHEN a.actor <> 'operator' THEN a.actor::uuid END
ORDER BY at, id
"""


async def page(conn: Connection, studio_id: str | None, query: AuditQuery) -> Page[AuditEntry]:
    """Of all studios if `studio_id` is None. Each filter has its index."""
    at, after = await start_after(conn, CURSOR, query.cursor, studio_id, order=query.order)
    wanted = {"studio_id": studio_id, "actor": query.actor, "action": query.action, "target": query.target}
    given = {name: value for name, value in wanted.items() if value is not None}
    filters = "".join(f" AND {name} = ${number}" for number, name in enumerate(given, 5))
    sql = LIST.format(filters=filters)
    if query.order == "desc":
        sql = sql.replace("(at, id) >", "(at, id) <").replace("ORDER BY at, id", "ORDER BY at DESC, id DESC")
    rows = await conn.fetch(sql, at, after, query.since, query.limit + 1, *given.values())
    return page_of([AuditEntry(**row) for row in rows], query.limit)


OWN_NAMES = """
SELECT id, name FROM studios WHERE id = ANY ($1) UNION ALL SELECT id, name FROM clients WHERE id = ANY ($1)
UNION ALL SELECT id, name FROM staff_tokens WHERE id = ANY ($1)
UNION ALL SELECT k.id, c.name || ' · ' || k.name FROM keys k JOIN clients c ON c.id = k.client_id
WHERE k.id = ANY ($1)
"""


async def own_names(conn: Connection, ids: Sequence[str]) -> dict[str, str]:
    """What the gateway's own resources are called."""
    return {row["id"]: row["name"] for row in await conn.fetch(OWN_NAMES, ids)}
