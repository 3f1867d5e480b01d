"""Delete events after 30 days, and the deliveries of deleted endpoints soon after the deletion."""

from datetime import timedelta

from services.webhooks.context import Webhooks
from services.webhooks.store import pruning, secrets
from shared.wire import now

KEPT = timedelta(days=30)
BATCH = 1000


async def prune_step(service: Webhooks) -> bool:
    """One batch. True if there is more."""
    async with service.db.connection() as conn:
        events = await pruning.prune_events(conn, now() - KEPT, BATCH)
        deliveries = await pruning.prune_deleted_endpoints(conn, BATCH)
        await secrets.remove_expired(conn)
    return max(events, deliveries) >= BATCH
