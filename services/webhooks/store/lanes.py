"""Lanes are leased whole. A token fences off a dispatcher that lost its lease."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from services.webhooks.rules.circuit_breaker import Breaker
from shared.db.database import Connection

LEASE_SECONDS = 30.0


class Lease(Struct, frozen=True):
    endpoint_id: str
    studio_id: str
    token: str


CLAIM = """
UPDATE lanes SET token = $1, leased_until = now() + $2 * interval '1 second'
WHERE endpoint_id = ANY (ARRAY(
    SELECT endpoint_id FROM lanes
    WHERE due_at <= now() AND due_at < 'infinity' AND (leased_until IS NULL OR leased_until < now())
      AND studio_id <> ALL ($4::uuid[])
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
RETURNING endpoint_id, studio_id, failures, pauses, paused_until, failing_since, last_failed_at
"""


async def claim(
    conn: Connection, token: str, limit: int, except_studios: Sequence[str] = ()
) -> list[tuple[Lease, Breaker]]:
    rows = await conn.fetch(CLAIM, token, LEASE_SECONDS, limit, list(except_studios))
    return [
        (
            Lease(row["endpoint_id"], row["studio_id"], token),
            Breaker(
                row["failures"],
                row["pauses"],
                row["paused_until"],
                row["failing_since"],
                row["last_failed_at"],
                window=1 if row["pauses"] else 2,
            ),
        )
        for row in rows
    ]


# A lane that is locked right now is renewed in the next round: leases last for three rounds.
RENEW = """
UPDATE lanes SET leased_until = now() + $3 * interval '1 second'
WHERE endpoint_id = ANY (ARRAY(
    SELECT l.endpoint_id FROM lanes l JOIN unnest($1::uuid[], $2::uuid[]) AS mine (endpoint_id, token)
    ON l.endpoint_id = mine.endpoint_id AND l.token = mine.token FOR UPDATE OF l SKIP LOCKED))
"""


async def renew(conn: Connection, leases: Sequence[Lease]) -> None:
    await conn.execute(
        RENEW, [lease.endpoint_id for lease in leases], [lease.token for lease in leases], LEASE_SECONDS
    )


# A lease that ends later than any lease can was written before the clock was set back. Its lane was due.
END_IMPOSSIBLE = """
UPDATE lanes SET token = NULL, leased_until = NULL, due_at = least(due_at, now())
WHERE leased_until > now() + 2 * $1 * interval '1 second'
"""


async def end_impossible_leases(conn: Connection) -> None:
    """A live dispatcher whose lane this ends has a stale token, and claims the lane again."""
    await conn.execute(END_IMPOSSIBLE, LEASE_SECONDS)


class Target(Struct, frozen=True):
    """Where a lane's deliveries go. Read again before each batch, so that changes apply at once."""

    wakes: int
    changes: int
    enabled: bool
    url: str
    fifo: bool
    rate_limit: float | None
    sealed: tuple[bytes, ...]


TARGET = """
SELECT l.wakes, l.changes, e.status = 'enabled' AND e.deleted_at IS NULL AS enabled, e.url, e.fifo,
       e.rate_limit,
       ARRAY(SELECT s.sealed FROM secrets s
             WHERE s.studio_id = e.studio_id AND s.endpoint_id = e.id
               AND (s.expires_at IS NULL OR s.expires_at > now())
             ORDER BY s.created_at DESC) AS sealed
FROM lanes l JOIN endpoints e ON e.studio_id = l.studio_id AND e.id = l.endpoint_id
WHERE l.endpoint_id = $1 AND l.token = $2
"""


async def target(conn: Connection, lease: Lease) -> Target | None:
    """None if the lease is lost or the endpoint is gone."""
    row = await conn.fetchrow(TARGET, lease.endpoint_id, lease.token)
    if row is None:
        return None
    return Target(
        row["wakes"],
        row["changes"],
        row["enabled"],
        row["url"],
        row["fifo"],
        row["rate_limit"],
        tuple(row["sealed"]),
    )


# The lane is due again when its breaker allows it, or when its next retry is due. `wakes` detects work that
# arrived since the last refill: then nothing is updated and the lane is refilled.
RELEASE = """
UPDATE lanes l SET token = NULL, leased_until = NULL, failures = $4, pauses = $5, paused_until = $6,
       failing_since = $7, last_failed_at = $9,
       due_at = CASE WHEN NOT $8 THEN 'infinity' ELSE coalesce($6, (
           SELECT min(next_attempt_at) FROM deliveries d
           WHERE d.endpoint_id = l.endpoint_id AND d.status = 'pending' AND d.step > 0), 'infinity') END
WHERE l.endpoint_id = $1 AND l.token = $2 AND l.wakes = $3 RETURNING true
"""


async def release(conn: Connection, lease: Lease, seen: Target, breaker: Breaker, now: datetime) -> bool:
    """False if there is new work or the lease was lost. The next refill finds out which."""
    released = await conn.fetchval(
        RELEASE,
        lease.endpoint_id,
        lease.token,
        seen.wakes,
        breaker.failures,
        breaker.pauses,
        breaker.paused_until if breaker.is_paused(now) else None,
        breaker.failing_since,
        seen.enabled,
        breaker.last_failed_at,
    )
    return bool(released)


NOTE_SUCCESS = """
UPDATE lanes SET failures = 0, pauses = 0, paused_until = NULL, failing_since = NULL,
       last_failed_at = NULL
WHERE endpoint_id = $1 AND token = $2
"""


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
    await conn.execute(GIVE_BACK, [lease.endpoint_id for lease in leases], [lease.token for lease in leases])


RESUME = """
UPDATE lanes SET due_at = now(), wakes = wakes + 1, changes = changes + 1, failures = 0, pauses = 0,
       paused_until = NULL, failing_since = NULL,
       last_failed_at = NULL
WHERE endpoint_id = $1
"""


async def resume(conn: Connection, endpoint_id: str) -> None:
    """After a re-enable: open deliveries continue, and the circuit breaker is reset."""
    await conn.execute(RESUME, endpoint_id)
