"""What operators do after a fault: requeue parked events, and skip sequences after a restore."""

from collections.abc import Sequence

import structlog

from services.webhooks.actions.log_events import log_events, outbox_row
from services.webhooks.context import Webhooks
from services.webhooks.store import event_log, parked
from services.webhooks.wire.operators import AdvanceSequences
from shared.db.unavailable import is_unavailable
from shared.events.bus import EVENT_LOG, Message, Queue
from shared.events.envelope import read_envelope
from shared.events.outbox import add_rows

log = structlog.get_logger("webhooks")


async def requeue_parked(service: Webhooks, queue: Queue, ids: Sequence[str] | None) -> int:
    """Returns how many. What still cannot be handled stays parked, or is parked again."""
    async with service.db.connection() as conn:
        rows = await parked.list_all(conn, queue, ids=ids)
    count = 0
    for row in rows:
        message = Message(row["event_id"], row["type"], row["body"], row["traceparent"])
        if queue is EVENT_LOG:
            count += await _log(service, message)
        else:
            count += await _forward(service, queue, message)
    service.relay_wakeup.notify()
    return count


async def _log(service: Webhooks, message: Message) -> bool:
    try:
        await log_events(service, [message])
    except Exception as problem:
        if is_unavailable(problem):
            raise
        log.error("message_stays_parked", queue=EVENT_LOG.name, id=message.id, error=repr(problem))
        return False
    async with service.db.connection() as conn:
        return await parked.remove(conn, EVENT_LOG, message.id)


async def _forward(service: Webhooks, queue: Queue, message: Message) -> bool:
    row = outbox_row(message, read_envelope(message.body))
    async with service.db.transaction() as conn:
        # Its person may have been erased since it was listed, or another operator was faster.
        found = await parked.remove(conn, queue, message.id)
        if found:
            await add_rows(conn, [row])
    return found


async def advance_sequences(service: Webhooks, given: AdvanceSequences) -> None:
    """Skips the numbers that were used since the backup, so that none is used twice."""
    async with service.db.transaction() as conn:
        await event_log.advance_sequences(conn, given.studio_ids, given.by)
