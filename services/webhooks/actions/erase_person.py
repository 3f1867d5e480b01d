"""Anonymize a person in the event log and the delivery log. Counts and sequences stay correct.

First the log remembers who was erased: from that commit on, it stores no event about them with personal data.
Then it rewrites what it has, and waits until no dispatcher can send an earlier body any more. Repeating it
finishes what was interrupted. docs/decisions/0015-erased-people.md says why it is done like this.
"""

import asyncio
import time

from msgspec import structs

from services.webhooks.context import Webhooks
from services.webhooks.rules.freshness import WAIT_SECONDS
from services.webhooks.store import erasure, event_log, lanes, parked
from services.webhooks.store.erasure import Mention
from services.webhooks.wire.events import read_logged
from services.webhooks.wire.operators import Erased
from shared.errors import Unavailable
from shared.events.anonymize import anonymize_outbox, person_in, without_person
from shared.http.caller import Caller
from shared.transfer.routes import PersonToErase
from shared.wire import encode

# How many events one transaction searches, and how many it rewrites at most.
STRETCH = 2_000
BATCH = 200
# With the wait that follows, the response comes before the caller gives up. The next call goes on from here.
SEARCH_SECONDS = 5.0


async def erase_person(service: Webhooks, caller: Caller, person: PersonToErase) -> Erased:
    people = sorted({*person.member_ids, *person.lead_ids})
    erased = Erased(events=0, deliveries=0)
    if not people:
        return erased
    async with service.db.transaction() as conn:
        counters = await event_log.lock_counters(conn, [caller.studio_id])
        after = await erasure.remember(conn, caller, people)
    await _rewrite(service, caller, people, after, counters[caller.studio_id], erased)
    async with service.db.transaction() as conn:
        await anonymize_outbox(conn, caller.studio_id, people)
        await parked.forget(conn, people)
        if not await erasure.is_sendable(conn, caller, people):
            return erased
        await event_log.lock_counters(conn, [caller.studio_id])
        await lanes.changed_all(conn, caller.studio_id)
    service.wakeup.notify()
    # Whoever loaded a body before that commit has asked for the last time, and may send it for this long.
    await asyncio.sleep(WAIT_SECONDS)
    async with service.db.connection() as conn:
        await erasure.note_not_sendable(conn, caller, people)
    return erased


async def _rewrite(
    service: Webhooks, caller: Caller, people: list[str], after: int, until: int, erased: Erased
) -> None:
    """All events that were logged before the log knew of the erasure."""
    give_up_at = time.monotonic() + SEARCH_SECONDS
    while after < until:
        async with service.db.transaction() as conn:
            found, after = await erasure.search(
                conn, caller, people, after, until, stretch=STRETCH, limit=BATCH
            )
            carrying = [rewritten for event in found if (rewritten := _anonymized(event, people)) is not None]
            await erasure.rewrite(conn, caller, carrying)
            deliveries, attempted = await erasure.clear_responses(conn, caller, found)
            sendable = bool(carrying and deliveries)
            await erasure.note_searched(conn, caller, people, after, sendable=sendable)
        erased.events += len(found)
        erased.deliveries += attempted
        if after < until and time.monotonic() > give_up_at:
            raise Unavailable("The event log has not been searched to its end; erase again.")


def _anonymized(event: Mention, people: list[str]) -> Mention | None:
    """The event without personal data. None if it has none of these people."""
    logged = read_logged(event.body)
    if person_in(logged.resource, logged.data) not in people:
        return None
    body = encode(structs.replace(logged, data=without_person(logged.resource)))
    return structs.replace(event, body=body)
