"""How endpoints are doing: attempts by the hour, the breaker, what waits. From short index scans only."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from services.webhooks.store.endpoints import OWN, PLACE, own
from services.webhooks.wire.health import EndpointHealth, HealthHour, HealthQuery
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.pages import start_after
from shared.percentiles import BOUNDS, p95

# Endpoint, seconds since 1970 of the hour, bucket of the duration: how many succeeded, how many failed.
Counts = dict[tuple[str, int, int], list[int]]
ADD = """
INSERT INTO attempt_hours (studio_id, endpoint_id, hour, bucket, succeeded, failed)
SELECT e.studio_id, e.id, to_timestamp(n.hour), n.bucket, n.succeeded, n.failed
FROM unnest($1::uuid[], $2::bigint[], $3::int[], $4::int[], $5::int[])
    AS n (endpoint_id, hour, bucket, succeeded, failed)
JOIN lanes l ON l.endpoint_id = n.endpoint_id
JOIN endpoints e ON e.studio_id = l.studio_id AND e.id = l.endpoint_id
ORDER BY 1, 2, 3, 4
ON CONFLICT (studio_id, endpoint_id, hour, bucket) DO UPDATE
SET succeeded = attempt_hours.succeeded + excluded.succeeded, failed = attempt_hours.failed + excluded.failed
"""
FORGET = "DELETE FROM attempt_hours WHERE hour < now() - interval '25 hours'"


async def add(conn: Connection, counts: Counts) -> None:
    rows = [(*key, *both) for key, both in counts.items()]
    await conn.execute(ADD, *map(list, zip(*rows, strict=True)))
    await conn.execute(FORGET)


# `{picked}` are endpoints, in the order of the list. Two failures without a success in between: it fails.
HEALTH = """
SELECT e.id, e.studio_id, e.url, e.description, l.failing_since,
       CASE WHEN e.status = 'disabled' THEN 'disabled' WHEN l.last_failed_at > l.failing_since THEN 'failing'
            WHEN l.failing_since IS NOT NULL THEN 'degraded' ELSE 'healthy' END AS health,
       CASE WHEN l.paused_until > now() THEN 'open' ELSE 'closed' END AS breaker,
       CASE WHEN l.due_at < 'infinity' AND open.pending > 0 THEN greatest(l.due_at, now()) END
           AS next_attempt_at,
       least(open.pending, 1000) AS pending, open.oldest AS oldest_pending_at, dead.count AS dead,
       CASE WHEN l.failing_since IS NOT NULL THEN coalesce(
           (SELECT attempts -> -1 FROM deliveries d WHERE d.endpoint_id = e.id AND d.status = 'pending'
              AND d.step > 0 ORDER BY d.next_attempt_at DESC LIMIT 1),
           (SELECT attempts -> -1 FROM deliveries d WHERE d.endpoint_id = e.id AND d.status = 'dead'
            ORDER BY d.sequence DESC LIMIT 1)) END AS last_error
FROM ({picked}) e JOIN lanes l ON l.endpoint_id = e.id
CROSS JOIN LATERAL (
    SELECT count(*) AS pending, min(created_at) AS oldest FROM (
        (SELECT created_at FROM deliveries d
         WHERE d.endpoint_id = e.id AND d.status = 'pending' AND d.step = 0 ORDER BY d.sequence LIMIT 1000)
        UNION ALL
        (SELECT created_at FROM deliveries d
         WHERE d.endpoint_id = e.id AND d.status = 'pending' AND d.step > 0
         ORDER BY d.next_attempt_at LIMIT 1000)) waiting) open
CROSS JOIN LATERAL (
    SELECT count(*) AS count FROM (
        SELECT FROM deliveries d WHERE d.endpoint_id = e.id AND d.status = 'dead'
        ORDER BY d.sequence LIMIT 1000) given_up) dead
ORDER BY e.created_at, e.id
"""
PAGE = HEALTH.format(
    picked=f"""
    SELECT * FROM endpoints WHERE {OWN} AND ($4::uuid IS NULL OR id = $4) AND (created_at, id) > ($5, $6)
    ORDER BY created_at, id LIMIT $7"""  # noqa: S608
)
# The longest first.
FAILING = HEALTH.format(
    picked="""
    SELECT e.* FROM lanes f JOIN endpoints e ON e.studio_id = f.studio_id AND e.id = f.endpoint_id
    WHERE f.failing_since IS NOT NULL AND f.last_failed_at > f.failing_since AND e.status = 'enabled'
      AND e.deleted_at IS NULL
    ORDER BY f.failing_since LIMIT 20"""
)
HOURS = """
SELECT endpoint_id, hour, bucket, succeeded, failed FROM attempt_hours
WHERE studio_id = $1 AND endpoint_id = ANY ($2::uuid[]) AND hour >= $3
"""


async def page(conn: Connection, caller: Caller, query: HealthQuery) -> list[EndpointHealth]:
    """With one more than the page shows."""
    after = await start_after(conn, PLACE, query.cursor, *own(caller))
    rows = await conn.fetch(PAGE, *own(caller), query.endpoint_id, *after, query.limit + 1)
    found = [_health(row) for row in rows]
    last: datetime = await conn.fetchval("SELECT date_trunc('hour', now())")
    hours = [last - timedelta(hours=back) for back in reversed(range(24))]
    counted: dict[str, list[Any]] = defaultdict(list)
    for row in await conn.fetch(HOURS, caller.studio_id, [one.id for one in found], hours[0]):
        counted[row["endpoint_id"]].append(row)
    for one in found:
        _count(one, hours, counted[one.id])
    return found


async def failing(conn: Connection) -> list[EndpointHealth]:
    """Of all studios, for the status."""
    return [_health(row) for row in await conn.fetch(FAILING)]


def _health(row: Mapping[str, Any]) -> EndpointHealth:
    return msgspec.convert(dict(row), EndpointHealth)


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
    recent = one.hours[-2:]
    if one.health == "healthy" and not buckets:
        one.health = "idle"
    elif one.health == "healthy" and sum(bar.failed for bar in recent) * 19 > sum(
        b.succeeded for b in recent
    ):
        one.health = "degraded"


def bucket_of(milliseconds: float) -> int:
    return sum(milliseconds >= bound for bound in BOUNDS)
