"""An erasure rewrites an event that is on its way: the log keeps the newest version, whatever came first."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec
from msgspec import structs

from services.webhooks.rules.visibility import channel_name
from services.webhooks.store import erasure, event_log, lanes
from services.webhooks.store.event_log import StoredEvent
from services.webhooks.wire.events import read_logged, render_logged
from shared.db.database import Connection
from shared.events.anonymize import merge_anonymized
from shared.events.bus import Message, groups_for
from shared.events.envelope import Envelope
from shared.events.outbox_erasure import replace_in_outbox
from shared.events.outbox_rows import read_reference
from shared.http.caller import Caller
from shared.wire import encode

Copy = tuple[Message, Envelope]


def version_of(message: Message) -> int:
    """How often an erasure had rewritten the event when this copy was published."""
    reference = read_reference(message.reference)
    return reference.version if reference else 0


def newest_copies(copies: Sequence[Copy]) -> list[Copy]:
    """Each event of the batch once, in its newest version, at the place of its first copy."""
    newest: dict[str, Copy] = {}
    for copy in copies:
        message, envelope = copy
        known = newest.get(envelope.id)
        if known is None or version_of(message) > version_of(known[0]):
            # Assigning to a known key keeps its place.
            newest[envelope.id] = copy
    return list(newest.values())


async def replace_rewritten(conn: Connection, new: set[str], copies: Sequence[Copy]) -> bool:
    """Replace what was stored and forwarded of an earlier version. False if there was nothing to replace.

    The caller holds the counters of the studios, like an erasure of events that are in the log already.
    """
    replaced = False
    for studio_id, own in sorted(_rewritten_of_studios(copies).items()):
        events, forwarded = [], {}
        for message, envelope in own:
            key = (studio_id, envelope.id, envelope.created_at)
            version = version_of(message)
            if envelope.id in new:
                await event_log.note_version(conn, *key, version)
                continue
            logged = await event_log.logged(conn, *key)
            if logged.version < version:
                merged = _merged(envelope, logged.body)
                events.append(_replacement(merged, logged.sequence, version))
                if groups_for(envelope.type):
                    forwarded[envelope.id] = encode(merged)
        if events:
            await _replace(conn, studio_id, sorted(events, key=lambda event: event.sequence))
            await replace_in_outbox(conn, studio_id, forwarded)
            replaced = True
    return replaced


def _rewritten_of_studios(copies: Sequence[Copy]) -> dict[str, list[Copy]]:
    found: dict[str, list[Copy]] = defaultdict(list)
    for copy in copies:
        if version_of(copy[0]) > 0:
            found[copy[1].studio_id].append(copy)
    return found


async def _replace(conn: Connection, studio_id: str, events: Sequence[StoredEvent]) -> None:
    caller = Caller(studio_id=studio_id, actor="operator")
    await erasure.rewrite(conn, caller, events)
    await erasure.clear_answers(conn, caller, events)
    # Lanes may have prefetched the earlier version.
    await lanes.changed_all(conn, studio_id)


def _merged(envelope: Envelope, stored: bytes) -> Envelope:
    """An erasure in the log does not change the version. The newer copy may still have that person's data."""
    newer, logged = msgspec.json.decode(envelope.data), msgspec.json.decode(read_logged(stored).data)
    return structs.replace(envelope, data=msgspec.Raw(encode(merge_anonymized(newer, logged))))


def _replacement(envelope: Envelope, sequence: int, version: int) -> StoredEvent:
    return StoredEvent(
        studio_id=envelope.studio_id,
        id=envelope.id,
        sequence=sequence,
        type=channel_name(envelope.type, envelope.audience or None),
        location_id=envelope.location_id,
        created_at=envelope.created_at,
        body=render_logged(envelope, sequence),
        version=version,
    )
