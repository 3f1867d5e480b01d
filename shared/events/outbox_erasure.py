"""Anonymizes a person's events in an outbox, where a row may stay for long while the event log is away.

A copy that is on its way already is anonymized by the event log, which knows who was erased.
"""

from collections.abc import Collection

from msgspec import structs

from shared.db.database import Connection
from shared.events.anonymize import person_in, without_person
from shared.events.envelope import read_envelope
from shared.wire import encode

MENTIONING = """
SELECT id, envelope FROM outbox
WHERE studio_id = $1
  AND EXISTS (SELECT 1 FROM unnest($2::bytea[]) AS word WHERE position(word IN envelope) > 0)
ORDER BY id FOR UPDATE
"""
REWRITE = """
UPDATE outbox o SET envelope = n.envelope
FROM unnest($1::bigint[], $2::bytea[]) AS n (id, envelope) WHERE o.id = n.id
"""


async def anonymize_outbox(conn: Connection, studio_id: str, people: Collection[str]) -> None:
    """In the caller's transaction. `people` are ids of members or leads."""
    words = [person_id.encode() for person_id in people]
    rows = await conn.fetch(MENTIONING, studio_id, words) if words else []
    rewritten: dict[int, bytes] = {}
    for row in rows:
        envelope = read_envelope(row["envelope"])
        if person_in(envelope.resource, envelope.data) in people:
            rewritten[row["id"]] = encode(structs.replace(envelope, data=without_person(envelope.resource)))
    if rewritten:
        await conn.execute(REWRITE, list(rewritten), list(rewritten.values()))
