"""Deliveries that the previous release made for events of a day that has a partition of its own."""

from shared.db.database import Connection

# Its rows went to the first partition. The update moves them to their event's day, where they are found.
ADOPT = """
WITH moved AS (
    UPDATE deliveries d SET event_created_at = e.created_at FROM events e
    WHERE d.event_created_at = '0001-01-01 00:00+00' AND d.status = 'pending'
      AND (d.studio_id, d.id) IN (
          SELECT studio_id, id FROM deliveries
          WHERE event_created_at = '0001-01-01 00:00+00' AND status = 'pending' LIMIT $1)
      AND e.studio_id = d.studio_id AND e.id = d.event_id
    RETURNING d.endpoint_id, d.event_created_at
)
UPDATE lanes l SET open_since = least(l.open_since, m.since), open_until = greatest(l.open_until, m.until),
       wakes = wakes + 1, due_at = least(due_at, now())
FROM (SELECT endpoint_id, min(event_created_at) AS since, max(event_created_at) AS until
      FROM moved GROUP BY endpoint_id) AS m
WHERE l.endpoint_id = m.endpoint_id
"""


async def adopt(conn: Connection, batch: int) -> None:
    await conn.execute(ADOPT, batch)
