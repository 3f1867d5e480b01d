"""Anonymize a person in the event log and the delivery log. Counts and sequences stay correct."""

import msgspec
from msgspec import structs

from services.webhooks.context import Webhooks
from services.webhooks.store import erasure, event_log, lanes
from services.webhooks.wire.events import read_logged
from services.webhooks.wire.operators import Erased
from shared.events.anonymize import anonymize
from shared.events.outbox_erasure import anonymize_outbox
from shared.http.caller import Caller
from shared.http.erasure import PersonToErase
from shared.wire import encode

BATCH = 200


async def erase_person(service: Webhooks, caller: Caller, person: PersonToErase) -> Erased:
    ids = {found for found in (person.member_id, person.lead_id) if found}
    emails = {email.strip().lower() for email in person.emails if email.strip()}
    erased = Erased(events=0, deliveries=0)
    after = 0
    while ids or emails:
        async with service.db.transaction() as conn:
            # The search takes long, so nobody waits for it.
            found = await erasure.events_mentioning(conn, caller, sorted(ids | emails), after, BATCH)
            if found:
                # A newer version may have replaced one of them since. From here on none can.
                await event_log.lock_counters(conn, [caller.studio_id])
                events = await erasure.read(conn, caller, found)
                rewritten = [
                    structs.replace(event, body=anonymized(event.body, ids, emails)) for event in events
                ]
                await erasure.rewrite(conn, caller, rewritten)
                erased.deliveries += await erasure.clear_answers(conn, caller, events)
                erased.events += len(events)
                after = found[-1].sequence
        if len(found) < BATCH:
            break
    # Even if nothing was found: a repeated erasure must finish one that was interrupted before this point.
    async with service.db.transaction() as conn:
        await event_log.lock_counters(conn, [caller.studio_id])
        await lanes.changed_all(conn, caller.studio_id)
        await anonymize_outbox(conn, caller.studio_id, ids, emails)
    service.wakeup.notify()
    return erased


def anonymized(body: bytes, ids: set[str], emails: set[str]) -> bytes:
    """The same event without personal data."""
    event = read_logged(body)
    data = anonymize(msgspec.json.decode(event.data), ids, emails)
    return encode(structs.replace(event, data=msgspec.Raw(encode(data))))
