"""Figures for operators. None of them counts deliveries: the cost does not depend on how many wait."""

from typing import Any

from shared.db.database import Connection

# The oldest of each lane is one step along an index.
COUNTS = """
SELECT greatest(0, coalesce(sum(pending), 0))::bigint AS pending,
       greatest(0, coalesce(sum(dead), 0))::bigint AS dead,
       (SELECT coalesce(extract(epoch FROM now() - min(oldest.created_at)), 0)::float8
        FROM lanes l CROSS JOIN LATERAL (
            SELECT created_at FROM deliveries d
            WHERE d.endpoint_id = l.endpoint_id AND d.status = 'pending' AND d.step = 0
              AND d.event_created_at >= l.open_since AND d.event_created_at <= l.open_until
            ORDER BY d.sequence LIMIT 1) AS oldest) AS oldest,
       (SELECT count(*) FROM recoveries WHERE status = 'running') AS recoveries
FROM delivery_counts
"""


async def counts(conn: Connection) -> dict[str, Any]:
    row = await conn.fetchrow(COUNTS)
    assert row is not None
    return dict(row)


# Several replicas may do this at once: each adds up rows that no other one has taken.
FOLD = """
WITH folded AS (
    DELETE FROM delivery_counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM delivery_counts LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING pending, dead
)
INSERT INTO delivery_counts SELECT sum(pending), sum(dead) FROM folded HAVING count(*) > 0
"""
FOLDED_AT_ONCE = 50_000


async def fold(conn: Connection) -> None:
    """Replace many differences by their sum."""
    await conn.execute(FOLD, FOLDED_AT_ONCE)
