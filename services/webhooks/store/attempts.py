"""What a lane sends next, and the results."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from services.webhooks.rules.days import Span
from services.webhooks.store.day_tables import PARTITION, DayTables
from services.webhooks.store.lanes import Lease
from shared.db.database import Connection


class Due(Struct, frozen=True):
    """A delivery that is due. `body` was rendered once and is the same in every attempt."""

    id: str
    event_id: str
    sequence: int
    step: int
    attempt_count: int
    event_created_at: datetime
    body: bytes
    traceparent: str | None = None


COLUMNS = """d.id, d.event_id, d.sequence, d.step, d.attempt_count, d.next_attempt_at, d.event_created_at,
e.body, e.traceparent"""


def open_deliveries(first: str, last: str) -> str:
    """A FROM clause for open deliveries with their bodies, which are in the partition of the same day.

    Both tables are bounded, because the planner does not see that one bound follows from the other.
    """
    return f"""
    deliveries{PARTITION} d JOIN events{PARTITION} e
      ON e.studio_id = d.studio_id AND e.id = d.event_id AND e.created_at = d.event_created_at
     AND e.created_at >= {first} AND e.created_at <= {last}
     AND d.event_created_at >= {first} AND d.event_created_at <= {last} AND d.status = 'pending'
    """


def read_due(row: Any) -> Due:
    return Due(
        row["id"],
        row["event_id"],
        row["sequence"],
        row["step"],
        row["attempt_count"],
        row["event_created_at"],
        row["body"],
        row["traceparent"],
    )


# The lane's span is read with them. Of an older one, the first delivery could be missing and a later one not:
# events are logged in another order than they are created.
IN_ORDER = f"""
SELECT l.open_since, l.open_until, found.*, found.step = 0 OR found.next_attempt_at <= now() AS is_due
FROM lanes l LEFT JOIN LATERAL (
    (SELECT {COLUMNS} FROM {open_deliveries("$2", "$3")}
     WHERE d.endpoint_id = $1 AND d.step = 0 ORDER BY d.sequence LIMIT $4)
    UNION ALL
    (SELECT {COLUMNS} FROM {open_deliveries("$2", "$3")}
     WHERE d.endpoint_id = $1 AND d.step > 0 ORDER BY d.sequence LIMIT 1)
) AS found ON true
WHERE l.endpoint_id = $1 ORDER BY found.sequence
"""  # noqa: S608


async def in_order(conn: Connection, days: DayTables, lease: Lease, span: Span, limit: int) -> list[Due]:
    """For a FIFO lane: the oldest open deliveries. Nothing after a retry, which may fail again."""
    span = span.whole_days()
    args = (lease.endpoint_id, span.since, span.until, limit)
    partition = await days.partition_of(conn, span)
    found: list[Due] = []
    for row in await days.run_on(partition, IN_ORDER, lambda sql: conn.fetch(sql, *args)):
        now_open = Span(row["open_since"], row["open_until"])
        if not span.covers(now_open):
            return await in_order(conn, days, lease, span.joined(now_open), limit)
        if row["is_due"]:
            found.append(read_due(row))
        if row["step"] != 0:
            break
    return found


class Completed(Struct, frozen=True, kw_only=True):
    lease: Lease
    delivery_id: str
    event_created_at: datetime
    attempt_count: int
    status: str
    step: int
    wait_seconds: float | None
    attempt: str


# The newest ones. `attempt_count` counts them all.
MAX_ATTEMPTS_KEPT = 20

# Fenced twice: by the lane's token, and by the attempt count, which a newer owner would have increased.
COMPLETE = f"""
UPDATE deliveries{PARTITION} d SET status = c.status, step = c.step,
       next_attempt_at = now() + c.wait_seconds * interval '1 second', attempt_count = d.attempt_count + 1,
       attempts = CASE WHEN jsonb_array_length(d.attempts) < $10 THEN d.attempts ELSE
                      jsonb_path_query_array(d.attempts, '$[last - $keep to last]',
                                             jsonb_build_object('keep', $10::int - 2)) END
                  || CASE WHEN d.erased THEN c.attempt::jsonb || '{{"response_body": null}}'
                                     ELSE c.attempt::jsonb END
FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::smallint[], $6::float8[], $7::text[],
            $8::uuid[], $9::uuid[], $11::timestamptz[])
     AS c (studio_id, id, attempt_count, status, step, wait_seconds, attempt, endpoint_id, token,
           event_created_at)
JOIN lanes l ON l.endpoint_id = c.endpoint_id AND l.token = c.token
WHERE d.studio_id = c.studio_id AND d.id = c.id AND d.attempt_count = c.attempt_count
  AND d.event_created_at = c.event_created_at AND d.event_created_at >= $12 AND d.event_created_at <= $13
RETURNING d.id
"""  # noqa: S608


async def complete(conn: Connection, days: DayTables, completed: Sequence[Completed]) -> set[str]:
    """Write a batch. Returns the ids that were written; the others were fenced off."""
    moments = [c.event_created_at for c in completed]
    span = Span(min(moments), max(moments))
    args = (
        [c.lease.studio_id for c in completed],
        [c.delivery_id for c in completed],
        [c.attempt_count for c in completed],
        [c.status for c in completed],
        [c.step for c in completed],
        [c.wait_seconds for c in completed],
        [c.attempt for c in completed],
        [c.lease.endpoint_id for c in completed],
        [c.lease.token for c in completed],
        MAX_ATTEMPTS_KEPT,
        moments,
        span.since,
        span.until,
    )
    partition = await days.partition_of(conn, span)
    rows = await days.run_on(partition, COMPLETE, lambda sql: conn.fetch(sql, *args))
    return {row["id"] for row in rows}
