"""How endpoints are doing: the breaker, what waits, attempts by the hour (functions/endpoint_health.sql)."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from services.webhooks.wire.health import EndpointHealth, HealthHour
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.percentiles import p95

# Endpoint, seconds since 1970 of the hour, bucket of the duration: how many succeeded, how many failed.
Counts = dict[tuple[str, int, int], list[int]]
ADD = "SELECT count_attempts($1::uuid[], $2::bigint[], $3::int[], $4::int[], $5::int[])"


async def add(conn: Connection, counts: Counts) -> None:
    rows = [(*key, *both) for key, both in counts.items()]
    await conn.execute(ADD, *map(list, zip(*rows, strict=True)))


HEALTH = "SELECT * FROM endpoint_health($1::uuid[])"
HOURS = """
SELECT endpoint_id, hour, bucket, succeeded, failed FROM attempt_hours
WHERE studio_id = $1 AND endpoint_id = ANY ($2::uuid[]) AND hour >= $3
"""


async def of_endpoints(conn: Connection, caller: Caller, ids: Sequence[str]) -> list[EndpointHealth]:
    """In this order. The caller has found them as its own."""
    found = [msgspec.convert(dict(row), EndpointHealth) for row in await conn.fetch(HEALTH, ids)]
    last: datetime = await conn.fetchval("SELECT date_trunc('hour', now())")
    hours = [last - timedelta(hours=back) for back in reversed(range(24))]
    counted: dict[str, list[Any]] = defaultdict(list)
    for row in await conn.fetch(HOURS, caller.studio_id, ids, hours[0]):
        counted[row["endpoint_id"]].append(row)
    for one in found:
        _count(one, hours, counted[one.id])
    return found


def _count(one: EndpointHealth, hours: list[datetime], rows: list[Any]) -> None:
    bars = {at: HealthHour(at=at) for at in hours}
    buckets: Counter[int] = Counter()
    for row in rows:
        bars[row["hour"]].succeeded += row["succeeded"]
        bars[row["hour"]].failed += row["failed"]
        buckets[row["bucket"]] += row["succeeded"] + row["failed"]
    one.hours, one.p95_ms = list(bars.values()), p95(buckets)
    one.succeeded = sum(bar.succeeded for bar in one.hours)
    one.failed = sum(bar.failed for bar in one.hours)
    if one.health == "healthy":
        good, bad = (sum(getattr(bar, name) for bar in one.hours[-2:]) for name in ("succeeded", "failed"))
        one.health = "idle" if not buckets else "degraded" if bad * 19 > good else "healthy"


FAILING = """
SELECT h.* FROM endpoint_health(ARRAY(
    SELECT l.endpoint_id FROM lanes l JOIN endpoints e ON e.studio_id = l.studio_id AND e.id = l.endpoint_id
    WHERE l.failing_since IS NOT NULL AND l.last_failed_at > l.failing_since AND e.status = 'enabled'
    ORDER BY l.failing_since DESC LIMIT 20)) h
"""


async def failing(conn: Connection) -> list[EndpointHealth]:
    """Of all studios, for the status. The newest first: whoever looks is told of one more among many."""
    return [msgspec.convert(dict(row), EndpointHealth) for row in await conn.fetch(FAILING)]
