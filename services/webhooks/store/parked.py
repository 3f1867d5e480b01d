"""Events that could not be handled, for operators. Nothing personal stays in a broker."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from shared.db.database import Connection, columns
from shared.events.bus import Message, Queue, Refused

# A copy that comes after its person's erasure is not kept: what cannot be read cannot be made anonymous.
PARK = """
INSERT INTO parked_events (queue, event_id, type, reason, body, traceparent)
SELECT $1, $2, $3, $4, $5, $6
WHERE NOT EXISTS (SELECT 1 FROM erased_people WHERE position(person_id::text::bytea IN $5) > 0)
ON CONFLICT (queue, event_id) DO NOTHING
"""


async def park(conn: Connection, queue: Queue, message: Message, reason: str) -> None:
    """Once per event, however often it comes."""
    await conn.execute(PARK, queue.name, message.id, message.topic, reason, message.body, message.traceparent)


# In one statement, so that the event is in one place or the other.
PARK_ROWS = """
WITH gone AS (
    DELETE FROM outbox USING unnest($2::bigint[], $3::text[], $4::text[]) AS refused (id, event_id, reason)
    WHERE outbox.id = refused.id AND outbox.event_id::text = refused.event_id
    RETURNING outbox.event_id, outbox.type, refused.reason, outbox.envelope, outbox.traceparent
)
INSERT INTO parked_events (queue, event_id, type, reason, body, traceparent)
SELECT $1, event_id::text, type, reason, envelope, traceparent FROM gone
ON CONFLICT (queue, event_id) DO NOTHING
"""


async def park_rows(conn: Connection, queue: Queue, refused: Sequence[Refused]) -> None:
    """Moves rows of our own outbox that another service refused."""
    await conn.execute(PARK_ROWS, queue.name, *columns(refused, "row_id", "event_id", "reason"))


COUNT = "SELECT count(*) FROM parked_events WHERE queue = $1"


async def count(conn: Connection, queue: Queue) -> int:
    return int(await conn.fetchval(COUNT, queue.name))


LIST = """
SELECT event_id, type, reason, body, traceparent FROM parked_events
WHERE queue = $1 AND ($2::text[] IS NULL OR event_id = ANY($2)) ORDER BY parked_at, event_id LIMIT $3
"""


async def list_all(
    conn: Connection, queue: Queue, *, ids: Sequence[str] | None = None, limit: int | None = None
) -> list[Any]:
    """The oldest first."""
    return await conn.fetch(LIST, queue.name, ids, limit)


REMOVE = "DELETE FROM parked_events WHERE queue = $1 AND event_id = $2 RETURNING 1"


async def remove(conn: Connection, queue: Queue, event_id: str) -> bool:
    """Whether it was still there."""
    return await conn.fetchval(REMOVE, queue.name, event_id) is not None


FORGET = """
DELETE FROM parked_events
WHERE EXISTS (SELECT 1 FROM unnest($1::bytea[]) AS person WHERE position(person IN body) > 0)
"""


async def forget(conn: Connection, people: Sequence[str]) -> None:
    """What could not be handled about erased people, by their ids."""
    await conn.execute(FORGET, [person_id.encode() for person_id in people])


PRUNE = "DELETE FROM parked_events WHERE parked_at < clock_timestamp() - $1::interval"


async def prune(conn: Connection, kept: timedelta) -> None:
    """What is older than the log could not be logged any more."""
    await conn.execute(PRUNE, kept)
