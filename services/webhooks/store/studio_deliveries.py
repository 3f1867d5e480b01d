"""All deliveries of one studio, for operators."""

from services.webhooks.rules.days import span_of_cursor
from services.webhooks.store.deliveries import COLUMNS, read_delivery
from services.webhooks.wire.deliveries import Delivery
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.pages import start_after

PLACE = """
SELECT created_at, id FROM deliveries
WHERE studio_id = $1 AND event_created_at >= $2 AND event_created_at < $3 AND id = $4
"""
# Endpoint by endpoint with the limit inside, so that the cost of a page does not depend on the table's size.
OF_STUDIO = f"""
SELECT {COLUMNS} FROM endpoints e CROSS JOIN LATERAL (
    SELECT * FROM deliveries
    WHERE endpoint_id = e.id AND (status = $4 OR $4 IS NULL) AND (created_at, id) > ($2, $3)
    ORDER BY sequence LIMIT $6) AS d
WHERE e.studio_id = $1 AND e.deleted_at IS NULL AND (e.id = $5 OR $5 IS NULL)
ORDER BY d.created_at, d.id LIMIT $6
"""  # noqa: S608
DEAD_OF_STUDIO = OF_STUDIO.replace("(status = $4 OR $4 IS NULL)", "status = 'dead' AND $4::text = 'dead'")


async def list_all(
    conn: Connection,
    caller: Caller,
    *,
    status: str | None,
    endpoint_id: str | None,
    cursor: str | None,
    limit: int,
) -> list[Delivery]:
    span = span_of_cursor(cursor)
    after = await start_after(conn, PLACE, cursor, caller.studio_id, span.since, span.until)
    sql = DEAD_OF_STUDIO if status == "dead" else OF_STUDIO
    rows = await conn.fetch(sql, caller.studio_id, *after, status, endpoint_id, limit)
    return [read_delivery(row) for row in rows]
