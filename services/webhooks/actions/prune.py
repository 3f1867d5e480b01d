"""Drop the log's days after 30 days, and delete what no longer has an endpoint or is in no day of its own."""

from services.webhooks.actions.keep_days import add_a_day, drop_expired_days
from services.webhooks.context import Webhooks
from services.webhooks.rules.days import KEPT
from services.webhooks.store import erasure, log_days, old_deliveries, pruning, secrets
from shared.wire import now

BATCH = 1000


async def prune_step(service: Webhooks) -> bool:
    """One batch. True if there is more."""
    at = now()
    await add_a_day(service, at)
    await drop_expired_days(service, at)
    async with service.db.connection() as conn:
        events = 0
        if first := await log_days.end_of_first(conn):
            events = await pruning.prune_events(conn, min(at - KEPT, first), BATCH)
            await old_deliveries.adopt(conn, BATCH)
        deliveries = await pruning.prune_deleted_endpoints(conn, BATCH)
        await secrets.remove_expired(conn)
        await erasure.forget(conn)
    return max(events, deliveries) >= BATCH
