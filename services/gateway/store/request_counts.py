"""Counts of requests by time and status, for histograms and for the history of the status."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from services.gateway.wire.request import CountsQuery, RequestBar, RequestCounts
from shared.db.database import Connection
from shared.percentiles import p95

# How many bars of how many seconds.
BARS: Final = {"1h": (60, 60), "24h": (48, 1800), "7d": (56, 10_800)}
STATUSES: Final = ("status_2xx", "status_3xx", "status_4xx", "status_5xx")
SUMS: Final = ", ".join(f"sum({name})::int AS {name}" for name in STATUSES)
BINNED = "date_bin(make_interval(secs => $3), {}, timestamptz '2000-01-01 00:00:00+00')"
COUNTS = f"""
SELECT {BINNED.format("minute")} AS at, bucket, {SUMS} FROM request_minutes
WHERE client_id = $1 AND studio_id = (SELECT studio_id FROM clients WHERE id = $1) AND source = $2
  AND minute >= $4
GROUP BY 1, 2
"""  # noqa: S608
LAST_BAR = f"SELECT {BINNED.replace('$3', '$1').format('clock_timestamp()')}"


async def counts(conn: Connection, client_id: str, query: CountsQuery) -> RequestCounts:
    number, seconds = BARS[query.window]
    last: datetime = await conn.fetchval(LAST_BAR, float(seconds))
    bars = [last - timedelta(seconds=seconds * back) for back in reversed(range(number))]
    shown = {at: RequestBar(at=at) for at in bars}
    buckets: dict[datetime, Counter[int]] = {at: Counter() for at in bars}
    for row in await conn.fetch(COUNTS, client_id, query.source, float(seconds), bars[0]):
        for name in STATUSES:
            setattr(shown[row["at"]], name, getattr(shown[row["at"]], name) + row[name])
            buckets[row["at"]][row["bucket"]] += row[name]
    for at, bar in shown.items():
        bar.p95_ms = p95(buckets[at])
    everything = sum(buckets.values(), Counter[int]())
    return RequestCounts(
        window=query.window, bar_seconds=seconds, p95_ms=p95(everything), data=list(shown.values())
    )


LAST_MINUTE = f"""
SELECT bucket, {SUMS} FROM request_minutes
WHERE minute = date_trunc('minute', clock_timestamp()) - interval '1 minute' GROUP BY bucket
"""  # noqa: S608


async def last_minute(conn: Connection) -> dict[str, float | None]:
    """Of all clients."""
    rows = await conn.fetch(LAST_MINUTE)
    buckets = {row["bucket"]: sum(row[name] for name in STATUSES) for row in rows}
    errors = sum(row["status_5xx"] for row in rows)
    return {"requests": sum(buckets.values()), "errors": errors, "p95_ms": p95(buckets)}
