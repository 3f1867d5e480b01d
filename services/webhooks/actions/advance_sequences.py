"""After a restore: skip the numbers that were given out in the lost time, so that none is given out twice."""

from services.webhooks.context import Webhooks
from services.webhooks.store import sequences
from services.webhooks.wire.operators import AdvanceSequences


async def advance_sequences(service: Webhooks, given: AdvanceSequences) -> None:
    async with service.db.transaction() as conn:
        await sequences.advance(conn, given.studio_ids, given.by)
