"""The weeks of the event log and the deliveries (functions/log_weeks.sql), and what is deleted row by row."""

from datetime import UTC, datetime

from shared.db.database import Connection
from shared.http.caller import Caller

WEEKS = """
SELECT to_date(right(c.relname, 8), 'YYYYMMDD')::timestamptz AS week
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'webhooks.events'::regclass
ORDER BY week
"""


async def weeks(conn: Connection) -> list[datetime]:
    """When the weeks that have a table begin, the oldest first."""
    return [row["week"] for row in await conn.fetch(WEEKS)]


ADD = "SELECT add_log_week($1)"


async def add_week(conn: Connection, moment: datetime) -> None:
    await conn.execute(ADD, moment)


DROP = "SELECT drop_log_week($1, $2)"


async def drop_week(conn: Connection, week: datetime) -> None:
    """Outside a transaction: each table is locked alone. Can be repeated if it fails in between."""
    day = week.astimezone(UTC).date()
    await conn.execute(DROP, day, "deliveries")
    await conn.execute(DROP, day, "events")


async def clock(conn: Connection) -> datetime:
    """The database's clock."""
    found: datetime = await conn.fetchval("SELECT now()")
    return found


PRUNE_DELIVERIES = """
WITH old AS (
    SELECT d.studio_id, d.id, d.event_created_at FROM endpoints e CROSS JOIN LATERAL (
        SELECT studio_id, id, event_created_at FROM deliveries WHERE endpoint_id = e.id LIMIT $1) AS d
    WHERE e.deleted_at IS NOT NULL LIMIT $1
), gone AS (
    DELETE FROM deliveries USING old
    WHERE deliveries.studio_id = old.studio_id AND deliveries.id = old.id
      AND deliveries.event_created_at = old.event_created_at
    RETURNING 1
)
SELECT count(*) FROM gone
"""
# Kept for as long as what was done to them can be repeated: a repetition is checked like the first request.
PRUNE_ENDPOINTS = """
DELETE FROM endpoints e WHERE e.deleted_at < now() - interval '25 hours'
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.endpoint_id = e.id)
"""


async def prune_deleted_endpoints(conn: Connection, batch: int) -> int:
    """First their deliveries, in batches. Then the endpoints themselves."""
    count = int(await conn.fetchval(PRUNE_DELIVERIES, batch))
    if count == 0:
        await conn.execute(PRUNE_ENDPOINTS)
    return count


# The deliveries first: one that is loaded without its event would wait for ever.
DROP_EVENTS = """
WITH old AS MATERIALIZED (
    SELECT id, created_at FROM events WHERE studio_id = $1 AND sequence <= $2 ORDER BY sequence LIMIT $3
), undelivered AS (
    DELETE FROM deliveries
    WHERE studio_id = $1 AND event_created_at = ANY(ARRAY(SELECT created_at FROM old))
      AND id = ANY(ARRAY(SELECT deliveries_of($1, id, created_at) FROM old))
)
DELETE FROM events e USING old WHERE e.studio_id = $1 AND e.id = old.id AND e.created_at = old.created_at
RETURNING e.id
"""


async def drop_events(conn: Connection, caller: Caller, through: int, limit: int) -> list[str]:
    """The oldest ones up to this sequence. Their ids."""
    return [row["id"] for row in await conn.fetch(DROP_EVENTS, caller.studio_id, through, limit)]
