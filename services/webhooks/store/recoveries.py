"""Recoveries and their progress."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from services.webhooks.rules.visibility import Subscriber
from services.webhooks.store.endpoints import read_subscriber
from services.webhooks.store.event_log import StoredEvent
from services.webhooks.wire.endpoints import Recovery
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.wire import delivery_id

COLUMNS = "id, endpoint_id, since, status, offered, created_at"
START = f"""
INSERT INTO recoveries (studio_id, id, endpoint_id, since, after_sequence, until_sequence)
SELECT $1, $2, $3, $4,
       coalesce((SELECT min(sequence) - 1 FROM events WHERE studio_id = $1 AND created_at >= $4),
                c.last_sequence),
       c.last_sequence
FROM event_counters c WHERE c.studio_id = $1
RETURNING {COLUMNS}
"""  # noqa: S608


async def start(
    conn: Connection, caller: Caller, recovery_id: str, endpoint_id: str, since: datetime
) -> Recovery:
    row = await conn.fetchrow(START, caller.studio_id, recovery_id, endpoint_id, since)
    assert row is not None
    return Recovery(**row)


BOUNDS = """
SELECT coalesce((SELECT min(sequence) - 1 FROM events WHERE studio_id = $1 AND created_at >= $2),
                last_sequence) AS after_sequence, last_sequence AS until_sequence
FROM event_counters WHERE studio_id = $1
"""


async def would_be(
    conn: Connection, endpoint_id: str, subscriber: Subscriber, since: datetime
) -> "RunningRecovery | None":
    """A recovery that is not started. None for a studio without events."""
    row = await conn.fetchrow(BOUNDS, subscriber.studio_id, since)
    place = {"studio_id": subscriber.studio_id, "id": "", "endpoint_id": endpoint_id, "since": since}
    return msgspec.convert({**row, **place, "subscriber": subscriber}, RunningRecovery) if row else None


GET = f"SELECT {COLUMNS} FROM recoveries WHERE studio_id = $1 AND endpoint_id = $2 AND id = $3"  # noqa: S608


async def get(conn: Connection, caller: Caller, endpoint_id: str, recovery_id: str) -> Recovery | None:
    row = await conn.fetchrow(GET, caller.studio_id, endpoint_id, recovery_id)
    return None if row is None else Recovery(**row)


RUNNING_OF = """
SELECT id FROM recoveries WHERE studio_id = $1 AND endpoint_id = $2 AND status = 'running'
"""


async def running_of(conn: Connection, caller: Caller, endpoint_id: str) -> str | None:
    """The id of the running recovery, if there is one."""
    found: str | None = await conn.fetchval(RUNNING_OF, caller.studio_id, endpoint_id)
    return found


class RunningRecovery(Struct, frozen=True, kw_only=True):
    studio_id: str
    id: str
    endpoint_id: str
    since: datetime
    after_sequence: int
    until_sequence: int
    subscriber: Subscriber


RUNNING = """
SELECT r.studio_id, r.id, r.since, r.after_sequence, r.until_sequence, r.endpoint_id,
       ARRAY[r.endpoint_id] AS endpoint_ids, e.client_id,
       e.event_types, e.scopes, e.location_ids
FROM recoveries r JOIN endpoints e ON e.studio_id = r.studio_id AND e.id = r.endpoint_id
WHERE r.status = 'running' AND e.status = 'enabled' AND e.deleted_at IS NULL
ORDER BY r.stepped_at, r.created_at LIMIT $1
"""
TOOK_TURN = "UPDATE recoveries SET stepped_at = clock_timestamp() WHERE id = ANY($1::uuid[])"


async def take_turns(conn: Connection, limit: int) -> list[RunningRecovery]:
    """The recoveries of enabled endpoints that waited longest. They move to the end of the queue."""
    rows = await conn.fetch(RUNNING, limit)
    await conn.execute(TOOK_TURN, [row["id"] for row in rows])
    return [msgspec.convert({**row, "subscriber": read_subscriber(row)}, RunningRecovery) for row in rows]


OPEN = """
SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE endpoint_id = $1 AND status = 'pending' AND step = 0
                      LIMIT $2) AS first_ones
"""


async def open_deliveries(conn: Connection, endpoint_id: str, at_most: int) -> int:
    return int(await conn.fetchval(OPEN, endpoint_id, at_most))


NEXT_BATCH = """
SELECT studio_id, id, sequence, type, location_id, client_id, moved_to, created_at, ''::bytea AS body
FROM events WHERE studio_id = $1 AND sequence > $2 AND sequence <= $3 AND created_at >= $4
ORDER BY sequence LIMIT $5
"""
STATUSES = """
SELECT id, status FROM deliveries
WHERE studio_id = $1 AND id = ANY($2::uuid[]) AND event_created_at = ANY($3::timestamptz[])
"""


class Candidate(Struct, frozen=True):
    event: StoredEvent
    delivery_id: str | None
    delivery_status: str | None


async def next_batch(conn: Connection, recovery: RunningRecovery, limit: int) -> list[Candidate]:
    """The next events, each with this endpoint's delivery of it, if there is one."""
    studio_id, after, until = recovery.studio_id, recovery.after_sequence, recovery.until_sequence
    rows = await conn.fetch(NEXT_BATCH, studio_id, after, until, recovery.since, limit)
    events = [msgspec.convert(dict(row), StoredEvent) for row in rows]
    ids = [delivery_id(event.id, recovery.endpoint_id) for event in events]
    moments = [event.created_at for event in events]
    found = await conn.fetch(STATUSES, studio_id, ids, moments)
    statuses = {row["id"]: row["status"] for row in found}
    return [
        Candidate(event, id_ if id_ in statuses else None, statuses.get(id_))
        for event, id_ in zip(events, ids, strict=True)
    ]


# `changes`, so that a FIFO lane does not send what it has loaded before these.
REVIVE = """
WITH woken AS (
    UPDATE lanes SET wakes = wakes + 1, changes = changes + 1, due_at = least(due_at, now())
    WHERE endpoint_id = $2
)
UPDATE deliveries d SET status = 'pending', step = 0, next_attempt_at = now()
WHERE d.studio_id = $1 AND d.id = ANY($3::uuid[]) AND d.status = 'dead'
"""


async def revive(conn: Connection, recovery: RunningRecovery, dead: Sequence[str]) -> None:
    if dead:
        await conn.execute(REVIVE, recovery.studio_id, recovery.endpoint_id, dead)


ADVANCE = """
UPDATE recoveries SET after_sequence = $3, offered = offered + $4, status = $5
WHERE studio_id = $1 AND id = $2 AND after_sequence = $6 AND status = 'running' RETURNING true
"""


async def advance(conn: Connection, recovery: RunningRecovery, to: int, offered: int, *, done: bool) -> bool:
    """False if another replica advanced it first. The caller must then roll back."""
    moved = await conn.fetchval(
        ADVANCE,
        recovery.studio_id,
        recovery.id,
        to,
        offered,
        "done" if done else "running",
        recovery.after_sequence,
    )
    return bool(moved)
