"""If the database's clock is set back, retries and pauses end when they would have ended without that.

Their times are moments of the database's clock. After a step of an hour back, they would wait an hour longer,
and an endpoint in FIFO order would stand still.
"""

import structlog

from services.webhooks.context import Webhooks
from services.webhooks.store import clock

log = structlog.get_logger("dispatcher")

EVERY_SECONDS = 1.0
BATCHES_PER_STEP = 100


async def follow_clock(service: Webhooks) -> bool:
    """True if there is more to correct. Each batch is a transaction of its own, so none is done twice."""
    async with service.db.connection() as conn:
        if not await clock.note(conn):
            return False
        seconds = await clock.begin_shift(conn)
    if seconds is not None:
        log.warning("clock_set_back", seconds=round(seconds, 3))
    for _ in range(BATCHES_PER_STEP):
        async with service.db.transaction() as conn:
            shift = await clock.claim_shift(conn)
            if shift is None or not await clock.shift_next_batch(conn, shift):
                return False
    return True
