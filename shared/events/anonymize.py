"""What an erasure leaves of an event about a person: the ids. Whoever keeps a copy fetches the rest again."""

from collections.abc import Collection

import msgspec
from msgspec import Raw, structs

from shared.db.database import Connection
from shared.events.envelope import read_envelope
from shared.events.event import EventResource
from shared.events.outbox import partition_of
from shared.wire import encode

# The address of an erased lead. It is nobody's.
ERASED_DOMAIN = "@erased.invalid"


def person_in(resource: EventResource, data: Raw) -> str | None:
    """Whose personal data the event carries: a member's, a lead's, or the reasons of a member's membership.

    All other kinds show a person's id at most.
    """
    if resource.object in ("member", "lead"):
        return resource.id
    if resource.object == "membership":
        member_id: str | None = msgspec.json.decode(data)["object"].get("member_id")
        return member_id or None
    return None


def without_person(resource: EventResource) -> Raw:
    """The event's data with nothing but the id, like an event about something that a key may not see."""
    return Raw(encode({"object": {"id": resource.id, "object": resource.object}}))


MENTIONING = """
SELECT id, envelope FROM outbox
WHERE partition = $1 AND studio_id = $2
  AND EXISTS (SELECT 1 FROM unnest($3::bytea[]) AS word WHERE position(word IN envelope) > 0)
ORDER BY id FOR UPDATE
"""
REWRITE = """
UPDATE outbox o SET envelope = n.envelope
FROM unnest($2::bigint[], $3::bytea[]) AS n (id, envelope) WHERE o.partition = $1 AND o.id = n.id
"""


async def anonymize_outbox(conn: Connection, studio_id: str, people: Collection[str]) -> None:
    """In an outbox, where a row may stay for long while the event log is away, in the caller's transaction.

    `people` are ids of members or leads. The event log, which knows who was erased, anonymizes copies that
    are on their way already. Nothing else changes a row between its insertion and its deletion.
    """
    words = [person_id.encode() for person_id in people]
    partition = partition_of(studio_id)
    rows = await conn.fetch(MENTIONING, partition, studio_id, words) if words else []
    rewritten: dict[int, bytes] = {}
    for row in rows:
        envelope = read_envelope(row["envelope"])
        if person_in(envelope.resource, envelope.data) in people:
            rewritten[row["id"]] = encode(structs.replace(envelope, data=without_person(envelope.resource)))
    if rewritten:
        await conn.execute(REWRITE, partition, list(rewritten), list(rewritten.values()))
