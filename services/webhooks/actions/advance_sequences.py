"""After a restore: skip the numbers that were used since the backup, so that none is used twice."""

from services.webhooks.context import Webhooks
from services.webhooks.store import event_log
from services.webhooks.wire.operators import AdvanceSequences


async def advance_sequences(service: Webhooks, given: AdvanceSequences) -> None:
    async with service.db.transaction() as conn:
        await event_log.advance_sequences(conn, given.studio_ids, given.by)
