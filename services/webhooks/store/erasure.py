"""Find and rewrite a person's data in the event log and the delivery log."""

from collections.abc import Sequence

from services.webhooks.store.event_log import StoredEvent
from shared.db.database import Connection
from shared.http.caller import Caller

# Bodies are searched as bytes: erasures are rare, and the log holds only 30 days of a studio.
MENTIONING = """
SELECT id, sequence, type, location_id, created_at, body FROM events
WHERE studio_id = $1 AND sequence > $2
  AND EXISTS (SELECT 1 FROM unnest($3::bytea[]) AS word WHERE position(word IN body) > 0)
ORDER BY sequence LIMIT $4
"""


async def events_mentioning(
    conn: Connection, caller: Caller, words: Sequence[str], after: int, limit: int
) -> list[StoredEvent]:
    rows = await conn.fetch(MENTIONING, caller.studio_id, after, [word.encode() for word in words], limit)
    return [
        StoredEvent(
            studio_id=caller.studio_id,
            id=row["id"],
            sequence=row["sequence"],
            type=row["type"],
            location_id=row["location_id"],
            created_at=row["created_at"],
            body=row["body"],
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


# An event that was erased in the log itself: no copy on its way has less of the person.
ERASED_HERE = 2**31 - 1

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
