"""Counts for operators. Each one is read along a partial index."""

from typing import Any

from shared.db.database import Connection

COUNTS = """
SELECT (SELECT count(*) FROM deliveries WHERE status = 'pending' AND step = 0)
     + (SELECT count(*) FROM deliveries WHERE status = 'pending' AND step > 0) AS pending,
       (SELECT count(*) FROM deliveries WHERE status = 'dead') AS dead,
       (SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM deliveries
        WHERE status = 'pending' AND step = 0) AS oldest,
       (SELECT count(*) FROM recoveries WHERE status = 'running') AS recoveries
"""


async def counts(conn: Connection) -> dict[str, Any]:
    row = await conn.fetchrow(COUNTS)
    assert row is not None
    return dict(row)
