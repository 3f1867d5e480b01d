"""Deduplicates consumed events, since the bus delivers at least once."""

from shared.db.database import Connection

# 30 days is far longer than any redelivery takes. Each insert deletes a few old rows.
INSERT = """
WITH old AS (
    DELETE FROM consumed_events WHERE event_id IN (
        SELECT event_id FROM consumed_events WHERE consumed_at < now() - interval '30 days'
        ORDER BY consumed_at LIMIT 10 FOR UPDATE SKIP LOCKED)
)
INSERT INTO consumed_events (event_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING event_id
"""


async def is_new(conn: Connection, event_id: str) -> bool:
    """True once per event. Call it in the transaction that applies the event."""
    return await conn.fetchval(INSERT, event_id) is not None
