"""Lanes are leased whole. A token fences off a dispatcher that lost its lease."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from services.webhooks.rules.retry import Breaker
from shared.db.database import ASYNCHRONOUS_COMMIT, Connection, columns
from shared.wire import now

# How long the endpoints of a killed dispatcher wait.
LEASE_SECONDS = 12.0
RENEW_SECONDS = 3.0


class Lease(Struct, frozen=True):
    endpoint_id: str
    studio_id: str
    token: str


# If a crash undoes a claim, the old token is refused, and whoever claims the lane next sends again.
CLAIM = f"""
UPDATE lanes SET token = $1, leased_until = now() + $2 * interval '1 second'
WHERE {ASYNCHRONOUS_COMMIT} AND endpoint_id = ANY (ARRAY(
    SELECT endpoint_id FROM lanes
    WHERE due_at <= now() AND due_at < 'infinity' AND (leased_until IS NULL OR leased_until < now())
      AND studio_id <> ALL ($4::uuid[])
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
RETURNING endpoint_id, studio_id, failures, pauses, failing_since, last_failed_at,
          extract(epoch FROM paused_until - now())::float8 AS pause_left
"""  # noqa: S608


async def claim(
    conn: Connection, token: str, limit: int, except_studios: Sequence[str] = ()
) -> list[tuple[Lease, Breaker]]:
    rows = await conn.fetch(CLAIM, token, LEASE_SECONDS, limit, list(except_studios))
    at = now()
    return [
        (
            Lease(row["endpoint_id"], row["studio_id"], token),
            Breaker(
                row["failures"],
                row["pauses"],
                # By our own clock, which may differ from the database's.
                at + timedelta(seconds=row["pause_left"]) if row["pause_left"] else None,
                row["failing_since"],
                row["last_failed_at"],
                window=1 if row["pauses"] else 2,
            ),
        )
        for row in rows
    ]


# A lane that is locked right now is renewed in the next round, and a new lease too: leases last for four.
RENEW = """
UPDATE lanes SET leased_until = now() + $3::float8 * interval '1 second'
WHERE endpoint_id = ANY (ARRAY(
    SELECT l.endpoint_id FROM lanes l JOIN unnest($1::uuid[], $2::uuid[]) AS mine (endpoint_id, token)
    ON l.endpoint_id = mine.endpoint_id AND l.token = mine.token
    WHERE l.leased_until < now() + ($3::float8 - $4::float8) * interval '1 second'
    FOR UPDATE OF l SKIP LOCKED))
"""


async def renew(conn: Connection, leases: Sequence[Lease]) -> None:
    await conn.execute(RENEW, *columns(leases, "endpoint_id", "token"), LEASE_SECONDS, RENEW_SECONDS)


class Release(Struct, frozen=True):
    """`wakes` and `enabled` are of the last load."""

    lease: Lease
    wakes: int
    enabled: bool
    breaker: Breaker
    at: datetime


# Not at once: a delivery that cannot be loaded must not keep its lane busy.
LOOK_AGAIN_SECONDS = 10
# The lane is due again when its breaker allows it, at once if work has arrived since the last load (which
# this statement may not see yet), or when its next retry is due. If a first attempt was missed nevertheless,
# the lane is looked at again. A lane that is locked by another is skipped: the event log locks many lanes in
# an order of its own, so waiting could deadlock.
RELEASE = f"""
WITH mine AS MATERIALIZED (
    SELECT *, now() + pause_seconds * interval '1 second' AS paused_until
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bool[], $5::int[], $6::int[], $7::timestamptz[],
                $8::timestamptz[], $9::float8[])
        AS mine (endpoint_id, token, wakes, enabled, failures, pauses, failing_since, last_failed_at,
                 pause_seconds)
), free AS MATERIALIZED (
    SELECT l.endpoint_id FROM lanes l JOIN mine ON l.endpoint_id = mine.endpoint_id AND l.token = mine.token
    FOR UPDATE OF l SKIP LOCKED
)
UPDATE lanes l SET token = NULL, leased_until = NULL, failures = mine.failures, pauses = mine.pauses,
       paused_until = mine.paused_until, failing_since = mine.failing_since,
       last_failed_at = mine.last_failed_at,
       due_at = CASE WHEN l.wakes = mine.wakes AND NOT mine.enabled THEN 'infinity'
                     WHEN mine.paused_until IS NOT NULL THEN mine.paused_until
                     WHEN l.wakes <> mine.wakes THEN now()
                     ELSE coalesce(retry.at, missed.at, 'infinity') END
FROM mine CROSS JOIN LATERAL (
    SELECT min(next_attempt_at) AS at FROM deliveries d
    WHERE d.endpoint_id = mine.endpoint_id AND d.status = 'pending' AND d.step > 0
) AS retry LEFT JOIN LATERAL (
    SELECT now() + interval '{LOOK_AGAIN_SECONDS} s' AS at FROM deliveries d
    WHERE retry.at IS NULL AND d.endpoint_id = mine.endpoint_id AND d.status = 'pending' AND d.step = 0
    LIMIT 1
) AS missed ON true
WHERE l.endpoint_id = ANY (ARRAY(SELECT endpoint_id FROM free))
  AND l.endpoint_id = mine.endpoint_id AND l.token = mine.token
RETURNING l.endpoint_id, l.due_at <= now() AS due
"""  # noqa: S608


async def release(conn: Connection, releases: Sequence[Release]) -> list[bool | None]:
    """Whether each lane is due again at once. None if it is locked or the lease is lost: load it again."""
    states = columns(
        releases, "lease.endpoint_id", "lease.token", "wakes", "enabled", "breaker.failures",
        "breaker.pauses", "breaker.failing_since", "breaker.last_failed_at",
    )  # fmt: skip
    rows = await conn.fetch(RELEASE, *states, [one.breaker.pause_left(one.at) for one in releases])
    due = {row["endpoint_id"]: row["due"] for row in rows}
    return [due.get(one.lease.endpoint_id) for one in releases]


HEALTHY = "failures = 0, pauses = 0, paused_until = NULL, failing_since = NULL, last_failed_at = NULL"
NOTE_SUCCESS = f"UPDATE lanes SET {HEALTHY} WHERE endpoint_id = $1 AND token = $2"  # noqa: S608


async def note_success(conn: Connection, lease: Lease) -> None:
    """Written at once: a busy lane may not be released for days and would look as if it kept failing."""
    await conn.execute(NOTE_SUCCESS, lease.endpoint_id, lease.token)


WOKEN = """
SELECT l.endpoint_id, l.changes <> mine.changes AS changed
FROM lanes l JOIN unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS mine (endpoint_id, wakes, changes)
ON l.endpoint_id = mine.endpoint_id WHERE l.wakes <> mine.wakes
"""


async def woken(conn: Connection, seen: dict[str, tuple[int, int]]) -> dict[str, bool]:
    """Which of these lanes were woken since their last refill. True: what they prefetched is stale."""
    wakes, changes = [wakes for wakes, _ in seen.values()], [changes for _, changes in seen.values()]
    return {row["endpoint_id"]: row["changed"] for row in await conn.fetch(WOKEN, list(seen), wakes, changes)}


CHANGED = "UPDATE lanes SET wakes = wakes + 1, changes = changes + 1 WHERE endpoint_id = $1"


async def changed(conn: Connection, endpoint_id: str) -> None:
    """Whoever has prefetched deliveries of this endpoint loads them again before it sends more."""
    await conn.execute(CHANGED, endpoint_id)


VERSION = "SELECT changes FROM lanes WHERE endpoint_id = $1"


async def version(conn: Connection, endpoint_id: str) -> int:
    """Grows with each change of the endpoint."""
    return int(await conn.fetchval(VERSION, endpoint_id))


CHANGED_ALL = "UPDATE lanes SET wakes = wakes + 1, changes = changes + 1 WHERE studio_id = $1"


async def changed_all(conn: Connection, studio_id: str) -> None:
    """The same for a whole studio. The caller holds its counter, like everyone who locks several lanes."""
    await conn.execute(CHANGED_ALL, studio_id)


GIVE_BACK = """
UPDATE lanes SET token = NULL, leased_until = NULL, due_at = least(due_at, now())
FROM unnest($1::uuid[], $2::uuid[]) AS mine (endpoint_id, token)
WHERE lanes.endpoint_id = mine.endpoint_id AND lanes.token = mine.token
"""


async def give_back(conn: Connection, leases: Sequence[Lease]) -> None:
    """On shutdown: another dispatcher can continue at once instead of waiting for the leases to expire."""
    await conn.execute(GIVE_BACK, *columns(leases, "endpoint_id", "token"))


RESUME = f"""
UPDATE lanes SET due_at = now(), wakes = wakes + 1, changes = changes + 1, {HEALTHY} WHERE endpoint_id = $1
"""  # noqa: S608


async def resume(conn: Connection, endpoint_id: str) -> None:
    """After a re-enable: open deliveries continue, and the circuit breaker is reset."""
    await conn.execute(RESUME, endpoint_id)
