"""Lanes are leased whole. A token fences off a dispatcher that lost its lease."""

from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct

from services.webhooks.rules.circuit_breaker import Breaker
from services.webhooks.rules.days import EVER, Span
from shared.db.database import ASYNCHRONOUS_COMMIT, Connection
from shared.wire import now

# How long the endpoints of a killed dispatcher wait.
LEASE_SECONDS = 12.0
RENEW_SECONDS = 3.0
# A lease of the previous release lasts 30 s.
IMPOSSIBLE_SECONDS = 60.0


class Lease(Struct, frozen=True):
    endpoint_id: str
    studio_id: str
    token: str
    # When the lane was claimed: open deliveries are of events created within.
    open_span: Span = EVER


# If a crash undoes a claim, the old token is refused, and whoever claims the lane next sends again.
CLAIM = f"""
UPDATE lanes SET token = $1, leased_until = now() + $2 * interval '1 second'
WHERE {ASYNCHRONOUS_COMMIT} AND endpoint_id = ANY (ARRAY(
    SELECT endpoint_id FROM lanes
    WHERE due_at <= now() AND due_at < 'infinity' AND (leased_until IS NULL OR leased_until < now())
      AND studio_id <> ALL ($4::uuid[])
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
RETURNING endpoint_id, studio_id, failures, pauses, failing_since, last_failed_at,
          extract(epoch FROM paused_until - now())::float8 AS pause_left, open_since, open_until
"""  # noqa: S608


async def claim(
    conn: Connection, token: str, limit: int, except_studios: Sequence[str] = ()
) -> list[tuple[Lease, Breaker]]:
    rows = await conn.fetch(CLAIM, token, LEASE_SECONDS, limit, list(except_studios))
    at = now()
    return [
        (
            Lease(row["endpoint_id"], row["studio_id"], token, Span(row["open_since"], row["open_until"])),
            Breaker(
                row["failures"],
                row["pauses"],
                # By our own clock, which may differ from the database's.
                at + timedelta(seconds=row["pause_left"]) if row["pause_left"] else None,
                row["failing_since"],
                row["last_failed_at"],
                window=1 if row["pauses"] else 2,
                pause=max(0.0, row["pause_left"] or 0.0),
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
    await conn.execute(
        RENEW,
        [lease.endpoint_id for lease in leases],
        [lease.token for lease in leases],
        LEASE_SECONDS,
        RENEW_SECONDS,
    )


# A lease that ends later than any lease can was written before the clock was set back. Its lane was due.
END_IMPOSSIBLE = """
UPDATE lanes SET token = NULL, leased_until = NULL, due_at = least(due_at, now())
WHERE leased_until > now() + $1 * interval '1 second'
"""


async def end_impossible_leases(conn: Connection) -> None:
    """A live dispatcher whose lane this ends has a stale token, and claims the lane again."""
    await conn.execute(END_IMPOSSIBLE, IMPOSSIBLE_SECONDS)


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
