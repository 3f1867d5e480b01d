"""What a lane sends next, and the results."""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from services.webhooks.rules.retry import NextStep
from services.webhooks.store.lanes import Lease
from shared.db.database import Connection, columns


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


class Target(Struct, frozen=True):
    """Where a lane's deliveries go. Read again before each batch, so that changes apply at once."""

    wakes: int
    changes: int
    enabled: bool
    url: str
    fifo: bool
    rate_limit: float | None
    sealed: list[bytes]


class Wanted(Struct, frozen=True):
    """`held` deliveries are left out: they are loaded already. With a limit of 0 only the target is loaded.

    An endpoint with a rate limit gets at most one second's worth.
    """

    lease: Lease
    held: Collection[str]
    limit: int


class Loaded(Struct, frozen=True):
    """`due` is empty for a FIFO endpoint, whose lane asks for its head only."""

    target: Target
    due: list[Due]


class Claimed(Struct, frozen=True):
    """A lane that had nothing to do, claimed by the event log with its first deliveries.

    `at`: the moment, of the monotonic clock, before the statement that read its target.
    """

    lease: Lease
    first: Loaded
    at: float


LOAD = "SELECT * FROM lane_work($1::uuid[], $2::uuid[], $3::text[], $4::int[])"


async def load(conn: Connection, wanted: Sequence[Wanted]) -> list[Loaded | None]:
    """Each lane's target and what is due. None if the lease is lost or the endpoint is gone."""
    lease = columns(wanted, "lease.endpoint_id", "lease.token")
    held = ["{" + ",".join(one.held) + "}" for one in wanted]
    rows = await conn.fetch(LOAD, *lease, held, [(one.limit + 1) // 2 for one in wanted])
    loaded: list[Loaded | None] = [None] * len(wanted)
    for row in map(dict, rows):
        place = row["place"] - 1
        lane = loaded[place]
        if lane is None:
            lane = loaded[place] = Loaded(msgspec.convert(row, Target), [])
        if row["id"] is not None:
            lane.due.append(msgspec.convert(row, Due))
    return loaded


IN_ORDER = "SELECT * FROM oldest_deliveries($1, $2)"


async def in_order(conn: Connection, endpoint_id: str, limit: int) -> list[Due]:
    """For a FIFO lane: the oldest open deliveries. Nothing after a retry, which may fail again."""
    found: list[Due] = []
    for row in await conn.fetch(IN_ORDER, endpoint_id, limit):
        if row["is_due"]:
            found.append(msgspec.convert(dict(row), Due))
        if row["step"] != 0:
            break
    return found


class Completed(Struct, frozen=True):
    """`attempt` is JSON for the delivery log."""

    lease: Lease
    due: Due
    verdict: NextStep
    attempt: str


# The newest ones. `attempt_count` counts them all.
MAX_ATTEMPTS_KEPT = 20

# Fenced twice: by the lane's token, and by the attempt count, which a newer owner would have increased. With
# the bounds, only the weeks that are needed are planned for.
COMPLETE = """
UPDATE deliveries d SET status = c.status, step = c.step,
       next_attempt_at = now() + c.wait_seconds * interval '1 second', attempt_count = d.attempt_count + 1,
       attempts = CASE WHEN jsonb_array_length(d.attempts) < $11 THEN d.attempts ELSE
                      jsonb_path_query_array(d.attempts, '$[last - $keep to last]',
                                             jsonb_build_object('keep', $11::int - 2)) END
                  || CASE WHEN d.erased
                          THEN c.attempt::jsonb || '{"response_body": null, "response_headers": null}'
                          ELSE c.attempt::jsonb END
FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::smallint[], $6::float8[], $7::text[],
            $8::uuid[], $9::uuid[], $10::timestamptz[])
     AS c (studio_id, id, attempt_count, status, step, wait_seconds, attempt, endpoint_id, token,
           event_created_at)
JOIN lanes l ON l.endpoint_id = c.endpoint_id AND l.token = c.token
WHERE d.studio_id = c.studio_id AND d.id = c.id AND d.attempt_count = c.attempt_count
  AND d.event_created_at = c.event_created_at AND d.event_created_at >= $12 AND d.event_created_at <= $13
RETURNING d.id
"""


async def complete(conn: Connection, completed: Sequence[Completed]) -> list[bool]:
    """Write a batch. False for a result that was fenced off because the lane has a new owner."""
    results = columns(
        completed, "lease.studio_id", "due.id", "due.attempt_count", "verdict.status", "verdict.step",
        "verdict.wait", "attempt", "lease.endpoint_id", "lease.token", "due.event_created_at",
    )  # fmt: skip
    moments = results[-1]
    rows = await conn.fetch(COMPLETE, *results, MAX_ATTEMPTS_KEPT, min(moments), max(moments))
    written = {row["id"] for row in rows}
    return [c.due.id in written for c in completed]
