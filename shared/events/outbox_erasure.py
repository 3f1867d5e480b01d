"""Anonymize a person in events that the log has not acknowledged yet.

A row is rewritten and published again with a higher version, even if it is in flight: a copy with personal
data may be in the broker's queue, and the event log then replaces the event it stored from that copy.
"""

from collections.abc import Collection, Mapping

import msgspec
from msgspec import structs

from shared.db.database import Connection
from shared.events.anonymize import anonymize
from shared.events.envelope import read_envelope
from shared.wire import encode

MENTIONING = """
SELECT id, envelope FROM outbox
WHERE studio_id = $1
  AND EXISTS (SELECT 1 FROM unnest($2::bytea[]) AS word WHERE position(word IN envelope) > 0)
ORDER BY id FOR UPDATE
"""
REWRITE = """
UPDATE outbox o SET envelope = n.envelope, version = o.version + 1, sent_at = NULL, parked_at = NULL
FROM unnest($1::bigint[], $2::bytea[]) AS n (id, envelope) WHERE o.id = n.id
"""


async def anonymize_outbox(
    conn: Connection, studio_id: str, ids: Collection[str], emails: Collection[str]
) -> int:
    """In the caller's transaction. Returns how many events mentioned the person."""
    words = [word.encode() for word in sorted({*ids, *emails})]
    rows = await conn.fetch(MENTIONING, studio_id, words) if words else []
    bodies = {row["id"]: _anonymized(row["envelope"], ids, emails) for row in rows}
    if bodies:
        await conn.execute(REWRITE, list(bodies), list(bodies.values()))
    return len(bodies)


REPLACE = """
UPDATE outbox o SET envelope = n.envelope, version = o.version + 1, sent_at = NULL, parked_at = NULL
FROM unnest($2::uuid[], $3::bytea[]) AS n (event_id, envelope)
WHERE o.studio_id = $1 AND o.event_id = n.event_id AND o.envelope <> n.envelope
"""


async def replace_in_outbox(conn: Connection, studio_id: str, envelopes: Mapping[str, bytes]) -> None:
    """For a service that forwards events of others: a newer version, by the event's id."""
    if envelopes:
        await conn.execute(REPLACE, studio_id, list(envelopes), list(envelopes.values()))


def _anonymized(body: bytes, ids: Collection[str], emails: Collection[str]) -> bytes:
    envelope = read_envelope(body)
    data = anonymize(msgspec.json.decode(envelope.data), ids, emails)
    return encode(structs.replace(envelope, data=msgspec.Raw(encode(data))))
