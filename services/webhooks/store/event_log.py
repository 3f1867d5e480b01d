"""Storing events: every one once, with the studio's next sequence."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from shared.db.database import Connection
from shared.http.caller import Caller

LOCK = """
SELECT studio_id, last_sequence FROM event_counters WHERE studio_id = ANY($1::uuid[])
ORDER BY studio_id FOR UPDATE
"""
START = "INSERT INTO event_counters (studio_id) SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING"


async def lock_counters(conn: Connection, studio_ids: Sequence[str]) -> dict[str, int]:
    """The last sequence of each studio. Until the commit nobody else stores events of these studios."""
    counters = {row["studio_id"]: row["last_sequence"] for row in await conn.fetch(LOCK, studio_ids)}
    missing = [studio_id for studio_id in studio_ids if studio_id not in counters]
    if not missing:
        return counters
    await conn.execute(START, missing)
    return {row["studio_id"]: row["last_sequence"] for row in await conn.fetch(LOCK, studio_ids)}


POSITION = "SELECT last_sequence FROM event_counters WHERE studio_id = $1"


async def position(conn: Connection, caller: Caller) -> int:
    """The sequence of the studio's newest event."""
    return await conn.fetchval(POSITION, caller.studio_id) or 0


STORED = """
SELECT id FROM events WHERE studio_id = ANY($1::uuid[]) AND id = ANY($2::uuid[])
  AND created_at >= $3 AND created_at <= $4
"""


async def known_ids(
    conn: Connection, studio_ids: Sequence[str], ids: Sequence[str], moments: Sequence[datetime]
) -> set[str]:
    """Which of these are stored already: a redelivery, or a relay that could not remove its row.

    A copy has the same `created_at`, so that only the weeks of these moments are searched.
    """
    rows = await conn.fetch(STORED, studio_ids, ids, min(moments), max(moments))
    return {row["id"] for row in rows}


class StoredEvent(Struct, frozen=True, kw_only=True):
    """`type` is the name of a channel (rules/visibility.py): the kind and, if it has one, the audience."""

    studio_id: str
    id: str
    sequence: int
    type: str
    location_id: str | None
    client_id: str | None = None
    moved_to: str | None = None
    created_at: datetime
    body: bytes
    traceparent: str | None = None
    # Its person was erased: the body carries ids only.
    erased: bool = False


# Both in one statement: each round trip here is part of the time from a commit to its receipt.
INSERT = """
WITH advanced AS (
    UPDATE event_counters c SET last_sequence = n.last_sequence
    FROM (SELECT studio_id, max(sequence) AS last_sequence
          FROM unnest($1::uuid[], $3::bigint[]) AS e (studio_id, sequence) GROUP BY studio_id) AS n
    WHERE c.studio_id = n.studio_id
)
INSERT INTO events (studio_id, id, sequence, type, location_id, client_id, created_at, body, traceparent,
                    moved_to)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::uuid[], $6::text[],
                     $7::timestamptz[], $8::bytea[], $9::text[], $10::uuid[])
"""


async def insert_events(conn: Connection, events: Sequence[StoredEvent]) -> None:
    """Also advances the studios' counters, which the caller has locked."""
    await conn.execute(
        INSERT,
        [event.studio_id for event in events],
        [event.id for event in events],
        [event.sequence for event in events],
        [event.type for event in events],
        [event.location_id for event in events],
        [event.client_id for event in events],
        [event.created_at for event in events],
        [event.body for event in events],
        [event.traceparent for event in events],
        [event.moved_to for event in events],
    )


# After a restore. Locked in the order of their ids, as above. A studio whose first event came after the
# backup has no counter any more, so it gets one here: where new studios start, after earlier jumps.
LOCK_ALL = """
INSERT INTO event_counters (studio_id)
SELECT id FROM unnest($1::uuid[]) AS studio (id) ORDER BY id
ON CONFLICT (studio_id) DO UPDATE SET last_sequence = event_counters.last_sequence
"""
ADVANCE_STUDIOS = (
    "UPDATE event_counters SET last_sequence = last_sequence + $2 WHERE studio_id = ANY($1::uuid[])"
)
ADVANCE_ENDPOINTS = """
UPDATE lanes SET last_sequence = last_sequence + $2
WHERE endpoint_id IN (
    SELECT endpoint_id FROM lanes WHERE studio_id = ANY($1::uuid[]) ORDER BY endpoint_id FOR UPDATE)
"""


async def advance_sequences(conn: Connection, studio_ids: Sequence[str], by: int) -> None:
    """The studios' sequences, and each endpoint's `webhook-sequence`."""
    await conn.execute(LOCK_ALL, studio_ids)
    await conn.execute(ADVANCE_STUDIOS, studio_ids, by)
    await conn.execute(ADVANCE_ENDPOINTS, studio_ids, by)
