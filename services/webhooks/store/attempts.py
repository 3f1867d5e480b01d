"""What a lane sends next, and the results."""

from collections.abc import Collection, Sequence
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
    event_created_at: datetime
    body: bytes
    traceparent: str | None = None


COLUMNS = """d.id, d.event_id, d.sequence, d.step, d.attempt_count, d.next_attempt_at, d.event_created_at,
e.body, e.traceparent"""
OPEN_DELIVERIES = """
deliveries d JOIN events e
  ON e.studio_id = d.studio_id AND e.id = d.event_id AND e.created_at = d.event_created_at
 AND d.status = 'pending'
"""


def _read_due(row: Any) -> Due:
    return Due(*(row[name] for name in Due.__struct_fields__))


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


# One statement, so `wakes` and the deliveries are of one snapshot. If `wakes` were newer, a lane could be
# released without having seen the delivery that woke it.
# Two index scans for each lane, each with a limit: first attempts get half, however many retries are overdue.
LOAD = f"""
WITH mine AS MATERIALIZED (
    SELECT m.place, l.endpoint_id, l.wakes, l.changes, e.url, e.fifo,
           e.rate_limit, m.held::uuid[] AS held,
           e.status = 'enabled' AND e.deleted_at IS NULL AS enabled,
           CASE WHEN e.fifo OR e.status <> 'enabled' OR e.deleted_at IS NOT NULL THEN 0
                ELSE least(m.half, ceil(e.rate_limit / 2)::int) END AS half,
           ARRAY(SELECT s.sealed FROM secrets s
                 WHERE s.studio_id = e.studio_id AND s.endpoint_id = e.id
                   AND (s.expires_at IS NULL OR s.expires_at > now())
                 ORDER BY s.created_at DESC) AS sealed
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[]) WITH ORDINALITY
        AS m (endpoint_id, token, held, half, place)
    JOIN lanes l ON l.endpoint_id = m.endpoint_id AND l.token = m.token
    JOIN endpoints e ON e.studio_id = l.studio_id AND e.id = l.endpoint_id
)
SELECT mine.place, mine.wakes, mine.changes, mine.enabled, mine.url, mine.fifo, mine.rate_limit, mine.sealed,
       found.*
FROM mine LEFT JOIN LATERAL (
    (SELECT {COLUMNS} FROM {OPEN_DELIVERIES}
     WHERE d.endpoint_id = mine.endpoint_id AND d.step = 0
       AND d.id <> ALL (mine.held)
     ORDER BY d.sequence LIMIT mine.half)
    UNION ALL
    (SELECT {COLUMNS} FROM {OPEN_DELIVERIES}
     WHERE d.endpoint_id = mine.endpoint_id AND d.step > 0
       AND d.id <> ALL (mine.held) AND d.next_attempt_at <= now()
     ORDER BY d.next_attempt_at LIMIT mine.half)
) AS found ON true
"""  # noqa: S608


async def load(conn: Connection, wanted: Sequence[Wanted]) -> list[Loaded | None]:
    """Each lane's target and what is due. None if the lease is lost or the endpoint is gone."""
    rows = await conn.fetch(
        LOAD,
        [one.lease.endpoint_id for one in wanted],
        [one.lease.token for one in wanted],
        ["{" + ",".join(one.held) + "}" for one in wanted],
        [(one.limit + 1) // 2 for one in wanted],
    )
    loaded: list[Loaded | None] = [None] * len(wanted)
    for row in rows:
        place = row["place"] - 1
        lane = loaded[place]
        if lane is None:
            target = Target(*(row[name] for name in Target.__struct_fields__))
            lane = loaded[place] = Loaded(target, [])
        if row["id"] is not None:
            lane.due.append(_read_due(row))
    return loaded


IN_ORDER = f"""
SELECT found.*, found.step = 0 OR found.next_attempt_at <= now() AS is_due FROM (
    (SELECT {COLUMNS} FROM {OPEN_DELIVERIES}
     WHERE d.endpoint_id = $1 AND d.step = 0 ORDER BY d.sequence LIMIT $2)
    UNION ALL
    (SELECT {COLUMNS} FROM {OPEN_DELIVERIES}
     WHERE d.endpoint_id = $1 AND d.step > 0 ORDER BY d.sequence LIMIT 1)
) AS found ORDER BY found.sequence
"""  # noqa: S608


async def in_order(conn: Connection, endpoint_id: str, limit: int) -> list[Due]:
    """For a FIFO lane: the oldest open deliveries. Nothing after a retry, which may fail again."""
    found: list[Due] = []
    for row in await conn.fetch(IN_ORDER, endpoint_id, limit):
        if row["is_due"]:
            found.append(_read_due(row))
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

# Fenced twice: by the lane's token, and by the attempt count, which a newer owner would have increased. With
# the bounds, only the weeks that are needed are planned for.
COMPLETE = """
UPDATE deliveries d SET status = c.status, step = c.step,
       next_attempt_at = now() + c.wait_seconds * interval '1 second', attempt_count = d.attempt_count + 1,
       attempts = CASE WHEN jsonb_array_length(d.attempts) < $10 THEN d.attempts ELSE
                      jsonb_path_query_array(d.attempts, '$[last - $keep to last]',
                                             jsonb_build_object('keep', $10::int - 2)) END
                  || CASE WHEN d.erased THEN c.attempt::jsonb || '{"response_body": null}'
                                     ELSE c.attempt::jsonb END
FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::smallint[], $6::float8[], $7::text[],
            $8::uuid[], $9::uuid[], $11::timestamptz[])
     AS c (studio_id, id, attempt_count, status, step, wait_seconds, attempt, endpoint_id, token,
           event_created_at)
JOIN lanes l ON l.endpoint_id = c.endpoint_id AND l.token = c.token
WHERE d.studio_id = c.studio_id AND d.id = c.id AND d.attempt_count = c.attempt_count
  AND d.event_created_at = c.event_created_at AND d.event_created_at >= $12 AND d.event_created_at <= $13
RETURNING d.id
"""


async def complete(conn: Connection, completed: Sequence[Completed]) -> set[str]:
    """Write a batch. Returns the ids that were written; the others were fenced off."""
    moments = [c.event_created_at for c in completed]
    rows = await conn.fetch(
        COMPLETE,
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
        min(moments),
        max(moments),
    )
    return {row["id"] for row in rows}
