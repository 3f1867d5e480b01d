"""What a lane sends next, and the results."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from services.webhooks.store.lanes import Lease
from shared.db.database import Connection


class Due(Struct, frozen=True):
    """A delivery that is due. `body` was rendered once and is the same in every attempt."""

    id: str
    event_id: str
    sequence: int
    step: int
    attempt_count: int
    body: bytes
    traceparent: str | None = None


COLUMNS = "d.id, d.event_id, d.sequence, d.step, d.attempt_count, d.next_attempt_at, e.body, e.traceparent"
WITH_BODY = "JOIN events e ON e.studio_id = d.studio_id AND e.id = d.event_id"


def read_due(row: Any) -> Due:
    return Due(
        row["id"],
        row["event_id"],
        row["sequence"],
        row["step"],
        row["attempt_count"],
        row["body"],
        row["traceparent"],
    )


HEAD = f"""
SELECT head.*, head.step = 0 OR head.next_attempt_at <= now() AS is_due FROM (
    (SELECT {COLUMNS} FROM deliveries d {WITH_BODY}
     WHERE d.endpoint_id = $1 AND d.status = 'pending' AND d.step = 0 ORDER BY d.sequence LIMIT 1)
    UNION ALL
    (SELECT {COLUMNS} FROM deliveries d {WITH_BODY}
     WHERE d.endpoint_id = $1 AND d.status = 'pending' AND d.step > 0 ORDER BY d.sequence LIMIT 1)
) AS head ORDER BY head.sequence LIMIT 1
"""  # noqa: S608


async def head(conn: Connection, lease: Lease) -> list[Due]:
    """For a FIFO lane: the oldest open delivery, if it is due."""
    row = await conn.fetchrow(HEAD, lease.endpoint_id)
    if row is None or not row["is_due"]:
        return []
    return [read_due(row)]


class Completed(Struct, frozen=True, kw_only=True):
    lease: Lease
    delivery_id: str
    attempt_count: int
    status: str
    step: int
    next_attempt_at: datetime | None
    attempt: str


# The newest ones. `attempt_count` counts them all.
MAX_ATTEMPTS_KEPT = 20

# Fenced twice: by the lane's token, and by the attempt count, which a newer owner would have increased.
COMPLETE = """
UPDATE deliveries d SET status = c.status, step = c.step, next_attempt_at = c.next_attempt_at,
       attempt_count = d.attempt_count + 1,
       attempts = CASE WHEN jsonb_array_length(d.attempts) < $10 THEN d.attempts ELSE
                      jsonb_path_query_array(d.attempts, '$[last - $keep to last]',
                                             jsonb_build_object('keep', $10::int - 2)) END
                  || CASE WHEN d.erased THEN c.attempt::jsonb || '{"response_body": null}'
                                     ELSE c.attempt::jsonb END
FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::smallint[], $6::timestamptz[], $7::text[],
            $8::uuid[], $9::uuid[])
     AS c (studio_id, id, attempt_count, status, step, next_attempt_at, attempt, endpoint_id, token)
JOIN lanes l ON l.endpoint_id = c.endpoint_id AND l.token = c.token
WHERE d.studio_id = c.studio_id AND d.id = c.id AND d.attempt_count = c.attempt_count
RETURNING d.id
"""


async def complete(conn: Connection, completed: Sequence[Completed]) -> set[str]:
    """Write a batch. Returns the ids that were written; the others were fenced off."""
    rows = await conn.fetch(
        COMPLETE,
        [c.lease.studio_id for c in completed],
        [c.delivery_id for c in completed],
        [c.attempt_count for c in completed],
        [c.status for c in completed],
        [c.step for c in completed],
        [c.next_attempt_at for c in completed],
        [c.attempt for c in completed],
        [c.lease.endpoint_id for c in completed],
        [c.lease.token for c in completed],
        MAX_ATTEMPTS_KEPT,
    )
    return {row["id"] for row in rows}
