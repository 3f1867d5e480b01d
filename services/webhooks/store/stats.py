"""Figures for operators. What they cost does not depend on how many deliveries there are."""

from typing import Any

from shared.db.database import Connection

# More are not counted: from there on the answer is the same for an operator.
COUNTED = 10_000
# In the order of their indexes, which hold open and dead deliveries only. Without that order a planner whose
# statistics are old may read the table. The oldest of each lane with work is one step along an index.
COUNTS = """
SELECT least($1, (SELECT count(*) FROM (
           SELECT 1 FROM deliveries WHERE status = 'pending' AND step = 0
           ORDER BY endpoint_id, sequence LIMIT $1) AS first_ones) + (
       SELECT count(*) FROM (
           SELECT 1 FROM deliveries WHERE status = 'pending' AND step > 0
           ORDER BY endpoint_id, next_attempt_at LIMIT $1) AS retries)) AS pending,
       (SELECT count(*) FROM (
           SELECT 1 FROM deliveries WHERE status = 'dead'
           ORDER BY endpoint_id, sequence LIMIT $1) AS dead_ones) AS dead,
       (SELECT coalesce(extract(epoch FROM now() - min(oldest.created_at)), 0)::float8
        FROM lanes l CROSS JOIN LATERAL (
            SELECT created_at FROM deliveries d
            WHERE d.endpoint_id = l.endpoint_id AND d.status = 'pending' AND d.step = 0
            ORDER BY d.sequence LIMIT 1) AS oldest
        WHERE l.due_at < 'infinity') AS oldest,
       (SELECT count(*) FROM recoveries WHERE status = 'running') AS recoveries
"""


async def counts(conn: Connection) -> dict[str, Any]:
    row = await conn.fetchrow(COUNTS, COUNTED)
    assert row is not None
    return dict(row)
