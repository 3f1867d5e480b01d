"""After a restore: skip the numbers that were used since the backup, so that none is used twice."""

from services.webhooks.context import Webhooks
from services.webhooks.store.advance_sequences import advance
from services.webhooks.wire.operators import AdvanceSequences


async def advance_sequences(service: Webhooks, given: AdvanceSequences) -> None:
    async with service.db.transaction() as conn:
        await advance(conn, given.studio_ids, given.by)
