"""Make the log's coming week and drop expired ones; delete what no longer has an endpoint or is needed."""

from datetime import datetime, timedelta

import asyncpg
import structlog

from services.webhooks.context import Webhooks
from services.webhooks.rules.retention import KEPT, WEEK, oldest_kept
from services.webhooks.store import endpoints, erasure, event_log, parked, retention
from shared.http.caller import Caller
from shared.observability.metrics import LOG_DAYS
from shared.wire import now

log = structlog.get_logger("event_log")

BATCH = 1000
DAY = timedelta(days=1)


async def prune_step(service: Webhooks) -> bool:
    """One batch. True if there is more."""
    await keep_weeks(service, now())
    async with service.db.connection() as conn:
        deliveries = await retention.prune_deleted_endpoints(conn, BATCH)
        await endpoints.remove_expired_secrets(conn)
        await erasure.forget(conn)
        await parked.prune(conn, KEPT)
    return deliveries >= BATCH


async def prune_events(service: Webhooks, caller: Caller, through: int) -> int:
    """The studio's events up to a sequence number, with their deliveries, also those that were not made yet.

    An attempt that is being made is not stopped.
    """
    dropped = 0
    while True:
        async with service.db.transaction() as conn:
            # A recovery would make deliveries of events that are being dropped.
            await event_log.lock_counters(conn, [caller.studio_id])
            events = await retention.drop_events(conn, caller, through, BATCH)
            await erasure.clear_stored_responses(conn, caller, events)
        dropped += len(events)
        if len(events) < BATCH:
            return dropped


async def keep_weeks(service: Webhooks, at: datetime) -> None:
    """This week and the next one have tables, and those of which nothing is kept are dropped.

    A week is dropped only if the database's clock says the same: one wrong clock loses nothing.
    """
    async with service.db.connection() as conn:
        for moment in (at, at + WEEK):
            await retention.add_week(conn, moment)
        oldest = oldest_kept(min(at, await retention.clock(conn)))
        weeks = await retention.weeks(conn)
        while weeks and weeks[0] < oldest:
            try:
                await retention.drop_week(conn, weeks[0])
            except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
                # Somebody reads for long, as pg_dump does. The next step tries again.
                log.warning("log_week_in_use", week=weeks[0].isoformat())
                break
            log.info("log_week_dropped", week=weeks[0].isoformat())
            weeks = weeks[1:]
    LOG_DAYS.labels("ahead").set((weeks[-1] + WEEK - at) / DAY)
    LOG_DAYS.labels("expired").set(max(oldest - weeks[0], 0 * DAY) / DAY)
