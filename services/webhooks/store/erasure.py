"""Who was erased, and the person's data in the event log and the delivery log."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from services.webhooks.rules.retention import KEPT, WEEK
from shared.db.database import Connection, columns
from shared.http.caller import Caller
from shared.http.idempotency import stored_responses
from shared.wire import encode

REMEMBER = """
INSERT INTO erased_people (studio_id, person_id) SELECT $1, unnest($2::uuid[])
ON CONFLICT (studio_id, person_id) DO UPDATE SET erased_at = clock_timestamp()
RETURNING searched_until
"""


async def remember(conn: Connection, caller: Caller, people: Sequence[str]) -> int:
    """The caller holds the studio's counter: whoever logs an event about them later sees this row.

    Returns up to which sequence an earlier erasure has searched for all of them.
    """
    rows = await conn.fetch(REMEMBER, caller.studio_id, people)
    return int(min(row["searched_until"] for row in rows))


class Mention(Struct, frozen=True):
    id: str
    sequence: int
    created_at: datetime
    body: bytes


# Bodies are searched as bytes: erasures are rare, and the log holds only 30 days of a studio.
END_OF_STRETCH = """
SELECT max(sequence) FROM (
    SELECT sequence FROM events WHERE studio_id = $1 AND sequence > $2 AND sequence <= $3
    ORDER BY sequence LIMIT $4) AS stretch
"""
MENTIONING = """
SELECT id, sequence, created_at, body FROM events
WHERE studio_id = $1 AND sequence > $2 AND sequence <= $3
  AND EXISTS (SELECT 1 FROM unnest($4::bytea[]) AS word WHERE position(word IN body) > 0)
ORDER BY sequence LIMIT $5
"""


async def search(
    conn: Connection,
    caller: Caller,
    people: Sequence[str],
    after: int,
    until: int,
    *,
    stretch: int,
    limit: int,
) -> tuple[list[Mention], int]:
    """Events of the next stretch that mention one of them, and the sequence up to which it was searched."""
    end = await conn.fetchval(END_OF_STRETCH, caller.studio_id, after, until, stretch) or until
    words = [person_id.encode() for person_id in people]
    rows = await conn.fetch(MENTIONING, caller.studio_id, after, end, words, limit)
    found = msgspec.convert(list(map(dict, rows)), list[Mention])
    return found, found[-1].sequence if len(found) == limit else end


REWRITE = """
UPDATE events e SET body = n.body
FROM unnest($2::uuid[], $3::timestamptz[], $4::bytea[]) AS n (id, created_at, body)
WHERE e.studio_id = $1 AND e.id = n.id AND e.created_at = n.created_at
"""


async def rewrite(conn: Connection, caller: Caller, events: Sequence[Mention]) -> None:
    """Stores the bodies of these events instead of what is stored."""
    await conn.execute(REWRITE, caller.studio_id, *columns(events, "id", "created_at", "body"))


# A receiver may repeat in its response what it was sent. Every row is flagged, with or without a response: an
# attempt in flight ends before or after this lock, so its response is cleared here or never stored.
CLEAR_RESPONSES = """
UPDATE deliveries SET erased = true, attempts = (
    SELECT coalesce(jsonb_agg(
        attempt || '{"response_body": null, "response_headers": null}' ORDER BY place), '[]')
    FROM jsonb_array_elements(attempts) WITH ORDINALITY AS a (attempt, place))
WHERE studio_id = $1 AND event_created_at = ANY($3::timestamptz[])
  AND id = ANY(ARRAY(SELECT deliveries_of($1, id, created_at)
                     FROM unnest($2::uuid[], $3::timestamptz[]) AS e (id, created_at)))
RETURNING attempts <> '[]' AS attempted
"""


# Not by the delivery, which may be gone. A client rarely retries by hand.
RETRIED = """
SELECT client_id, key, body FROM idempotency_keys
WHERE studio_id = $1 AND route = 'POST /webhook-deliveries/{delivery_id}/retry' AND http_status < 400
  AND convert_from(body, 'UTF8')::jsonb ->> 'event_id' = ANY ($2::text[]) FOR UPDATE
"""


async def clear_stored_responses(conn: Connection, caller: Caller, event_ids: Sequence[str]) -> None:
    """Responses of endpoints, in the responses that are stored for repeated retries."""
    for stored in await conn.fetch(RETRIED, caller.studio_id, event_ids):
        delivery = msgspec.json.decode(stored["body"])
        for attempt in delivery["attempts"]:
            attempt["response_body"] = None
        await stored_responses.replace_body(conn, caller, stored, encode(delivery))


async def clear_responses(conn: Connection, caller: Caller, events: Sequence[Mention]) -> tuple[int, int]:
    """How many deliveries these events have, and how many of them were attempted."""
    rows = await conn.fetch(CLEAR_RESPONSES, caller.studio_id, *columns(events, "id", "created_at"))
    await clear_stored_responses(conn, caller, [event.id for event in events])
    return len(rows), sum(row["attempted"] for row in rows)


SEARCHED = """
UPDATE erased_people SET searched_until = greatest(searched_until, $3), sendable = sendable OR $4
WHERE studio_id = $1 AND person_id = ANY($2::uuid[])
"""


async def note_searched(
    conn: Connection, caller: Caller, people: Sequence[str], until: int, *, sendable: bool
) -> None:
    """With the rewritten bodies, so that an interrupted erasure goes on from here."""
    await conn.execute(SEARCHED, caller.studio_id, people, until, sendable)


SENDABLE = """
SELECT bool_or(sendable) FROM erased_people WHERE studio_id = $1 AND person_id = ANY($2::uuid[])
"""
NOT_SENDABLE = """
UPDATE erased_people SET sendable = false WHERE studio_id = $1 AND person_id = ANY($2::uuid[])
"""


async def is_sendable(conn: Connection, caller: Caller, people: Sequence[str]) -> bool:
    """Whether a dispatcher may still hold an earlier body, also after an erasure that was interrupted."""
    return bool(await conn.fetchval(SENDABLE, caller.studio_id, people))


async def note_not_sendable(conn: Connection, caller: Caller, people: Sequence[str]) -> None:
    await conn.execute(NOT_SENDABLE, caller.studio_id, people)


# Longer than the log takes events for, whatever the clocks say.
REMEMBERED = KEPT + 2 * WEEK
FORGET = "DELETE FROM erased_people WHERE erased_at < now() - $1::interval"


async def forget(conn: Connection) -> None:
    """An event from before the erasure is too old for the log by now."""
    await conn.execute(FORGET, REMEMBERED)
