"""Remove expired data in small batches, to hold few locks."""

from datetime import datetime

from shared.db.database import Connection

# Studio by studio along an index, so that the cost of a batch does not depend on the size of the log.
PRUNE_EVENTS = """
WITH old AS (
    SELECT e.studio_id, e.id, e.created_at FROM event_counters c CROSS JOIN LATERAL (
        SELECT studio_id, id, created_at FROM events WHERE studio_id = c.studio_id AND created_at < $1
        ORDER BY created_at LIMIT $2) AS e
    LIMIT $2
), gone AS (
    DELETE FROM events USING old
    WHERE events.studio_id = old.studio_id AND events.id = old.id AND events.created_at = old.created_at
      AND events.created_at < $1
    RETURNING events.studio_id, events.id
), with_them AS (
    DELETE FROM deliveries d USING gone
    WHERE d.studio_id = gone.studio_id AND d.event_id = gone.id AND d.event_created_at < $1
)
SELECT count(*) FROM gone
"""


async def prune_events(conn: Connection, before: datetime, batch: int) -> int:
    """Deletes their deliveries too. For the first partition only: the others are dropped."""
    return int(await conn.fetchval(PRUNE_EVENTS, before, batch))


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
PRUNE_ENDPOINTS = """
DELETE FROM endpoints e WHERE e.deleted_at < now() - interval '1 minute'
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.endpoint_id = e.id)
"""


async def prune_deleted_endpoints(conn: Connection, batch: int) -> int:
    """First their deliveries, in batches. Then the endpoints themselves."""
    count = int(await conn.fetchval(PRUNE_DELIVERIES, batch))
    if count == 0:
        await conn.execute(PRUNE_ENDPOINTS)
    return count
