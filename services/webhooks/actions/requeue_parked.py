"""An operator sends parked events back to where they could not be handled, after the cause was mended."""

from collections.abc import Sequence

import structlog

from services.webhooks.actions.log_events import log_events
from services.webhooks.context import Webhooks
from services.webhooks.store import parked
from shared.db.unavailable import is_unavailable
from shared.events.bus import EVENT_LOG, Message, Queue
from shared.events.envelope import read_envelope
from shared.events.outbox import OutboxRow, add_rows, partition_of

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
    studio_id = read_envelope(message.body).studio_id
    row = OutboxRow(
        partition_of(studio_id), message.id, studio_id, message.topic, message.body, message.traceparent
    )
    async with service.db.transaction() as conn:
        # Its person may have been erased since it was listed, or another operator was faster.
        found = await parked.remove(conn, queue, message.id)
        if found:
            await add_rows(conn, [row])
    return found
