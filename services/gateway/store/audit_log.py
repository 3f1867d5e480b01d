"""The audit log of all studios."""

from services.gateway.wire.request import AuditEntry, AuditQuery
from shared.db.database import Connection
from shared.http.pages import Page, page_of, start_after
from shared.wire import new_id

ADD = "INSERT INTO audit_log (id, actor, action, target, request_id) VALUES ($1, $2, $3, $4, $5)"


async def add(conn: Connection, *, actor: str, action: str, target: str, request_id: str) -> str:
    entry_id = new_id()
    await conn.execute(ADD, entry_id, actor, action, target, request_id)
    return entry_id


SET_TARGET = "UPDATE audit_log SET target = $2 WHERE id = $1"


async def set_target(conn: Connection, entry_id: str, target: str) -> None:
    """The id of a new resource is known only afterwards."""
    await conn.execute(SET_TARGET, entry_id, target)


REMOVE = "DELETE FROM audit_log WHERE id = $1"


async def remove(conn: Connection, entry_id: str) -> None:
    """Call it if the request was refused, so that nothing was done."""
    await conn.execute(REMOVE, entry_id)


CURSOR = "SELECT at, id FROM audit_log WHERE id = $1"
LIST = """
SELECT id, at, actor, action, target, request_id FROM audit_log
WHERE (at, id) > ($1, $2) AND ($3::timestamptz IS NULL OR at >= $3)
ORDER BY at, id LIMIT $4
"""


async def page(conn: Connection, query: AuditQuery) -> Page[AuditEntry]:
    at, after = await start_after(conn, CURSOR, query.cursor, order=query.order)
    sql = LIST
    if query.order == "desc":
        sql = sql.replace("(at, id) >", "(at, id) <").replace("ORDER BY at, id", "ORDER BY at DESC, id DESC")
    rows = await conn.fetch(sql, at, after, query.since, query.limit + 1)
    return page_of([AuditEntry(**row) for row in rows], query.limit)
