"""Find and rewrite a person's data in the event log and the delivery log."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from services.webhooks.store.event_log import StoredEvent
from shared.db.database import Connection
from shared.http.caller import Caller


class Mention(Struct, frozen=True):
    id: str
    sequence: int
    created_at: datetime


# Bodies are searched as bytes: erasures are rare, and the log holds only 30 days of a studio.
MENTIONING = """
SELECT id, sequence, created_at FROM events
WHERE studio_id = $1 AND sequence > $2
  AND EXISTS (SELECT 1 FROM unnest($3::bytea[]) AS word WHERE position(word IN body) > 0)
ORDER BY sequence LIMIT $4
"""


async def events_mentioning(
    conn: Connection, caller: Caller, words: Sequence[str], after: int, limit: int
) -> list[Mention]:
    rows = await conn.fetch(MENTIONING, caller.studio_id, after, [word.encode() for word in words], limit)
    return [Mention(row["id"], row["sequence"], row["created_at"]) for row in rows]


READ = """
SELECT e.id, e.sequence, e.type, e.location_id, e.created_at, e.body, coalesce(e.version, 0) AS version
FROM unnest($2::uuid[], $3::timestamptz[]) AS m (id, created_at)
JOIN events e ON e.studio_id = $1 AND e.id = m.id AND e.created_at = m.created_at
ORDER BY e.sequence
"""


async def read(conn: Connection, caller: Caller, mentions: Sequence[Mention]) -> list[StoredEvent]:
    ids, moments = [mention.id for mention in mentions], [mention.created_at for mention in mentions]
    rows = await conn.fetch(READ, caller.studio_id, ids, moments)
    return [
        StoredEvent(
            studio_id=caller.studio_id,
            id=row["id"],
            sequence=row["sequence"],
            type=row["type"],
            location_id=row["location_id"],
            created_at=row["created_at"],
            body=row["body"],
            version=row["version"],
        )
        for row in rows
    ]


REWRITE = """
UPDATE events e SET body = n.body, version = n.version
FROM unnest($2::uuid[], $3::timestamptz[], $4::bytea[], $5::integer[]) AS n (id, created_at, body, version)
WHERE e.studio_id = $1 AND e.id = n.id AND e.created_at = n.created_at
"""


async def rewrite(conn: Connection, caller: Caller, found: Sequence[StoredEvent]) -> None:
    """Store the bodies of these events instead of what is stored."""
    await conn.execute(
        REWRITE,
        caller.studio_id,
        [event.id for event in found],
        [event.created_at for event in found],
        [event.body for event in found],
        [event.version for event in found],
    )


# A receiver may repeat in its response what it was sent. Every row is flagged, with or without a response: an
# attempt in flight ends before or after this lock, so its response is cleared here or never stored.
CLEAR_ANSWERS = """
UPDATE deliveries SET erased = true, attempts = (
    SELECT coalesce(jsonb_agg(attempt || '{"response_body": null}' ORDER BY place), '[]')
    FROM jsonb_array_elements(attempts) WITH ORDINALITY AS a (attempt, place))
WHERE studio_id = $1 AND event_id = ANY($2::uuid[])
  AND (event_created_at = ANY($3::timestamptz[]) OR event_created_at = '0001-01-01 00:00+00')
RETURNING attempts <> '[]' AS answered
"""


async def clear_answers(conn: Connection, caller: Caller, found: Sequence[StoredEvent]) -> int:
    ids, moments = [event.id for event in found], [event.created_at for event in found]
    rows = await conn.fetch(CLEAR_ANSWERS, caller.studio_id, ids, moments)
    return sum(row["answered"] for row in rows)
