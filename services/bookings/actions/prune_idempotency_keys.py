"""Deletes the idempotency keys that have expired."""

from services.bookings.context import Bookings
from services.bookings.store import idempotency

BATCH_SIZE = 1000


async def prune_idempotency_keys(service: Bookings) -> bool:
    """One step of the loop. True when there may be more to delete."""
    async with service.db.connection() as conn:
        return await idempotency.prune(conn, BATCH_SIZE) == BATCH_SIZE
