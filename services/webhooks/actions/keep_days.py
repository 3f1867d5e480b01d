"""Make the partitions of the coming days, and drop those that are older than what is kept."""

from datetime import datetime

import asyncpg
import structlog

from services.webhooks.context import Webhooks
from services.webhooks.rules.days import AHEAD, oldest_kept
from services.webhooks.store import log_days
from services.webhooks.telemetry import report_days_ahead, report_expired_days
from shared.db.database import Connection
from shared.errors import Unavailable

log = structlog.get_logger("log_days")


async def add_days_until(service: Webhooks, moment: datetime) -> None:
    """Adds days until `moment` is in one of them. Costs nothing if it is known to be."""
    while service.days.until <= moment:
        async with service.db.connection() as conn:
            service.days.until = await log_days.last(conn)
            if service.days.until <= moment:
                service.days.until = await _add(conn)


async def _add(conn: Connection) -> datetime:
    """Whatever the reason is that there is no new day, no event is the cause."""
    try:
        return await log_days.add(conn)
    except asyncpg.RaiseError:
        raise
    except asyncpg.PostgresError as problem:
        raise Unavailable("The event log cannot make a partition for this day.") from problem


async def add_a_day(service: Webhooks, at: datetime) -> None:
    """One at a time, so that a new installation does not spend its first second on seven.

    Before that all that are missing up to `at`, as after a long break: not every writer makes its own day.
    """
    async with service.db.connection() as conn:
        report_days_ahead(await log_days.last(conn) - at)
    await add_days_until(service, at)
    async with service.db.connection() as conn:
        until = await log_days.last(conn)
        if until <= at + AHEAD:
            until = await log_days.add(conn)
    service.days.until = until
    report_days_ahead(until - at)


async def drop_expired_days(service: Webhooks, at: datetime) -> None:
    async with service.db.connection() as conn:
        expired = await log_days.expired(conn, oldest_kept(at))
        while expired:
            try:
                await log_days.drop(conn, expired[0])
            except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
                # Somebody reads for long, as pg_dump does. The next step tries again.
                log.warning("log_day_in_use", until=expired[0].isoformat())
                break
            log.info("log_day_dropped", until=expired[0].isoformat())
            expired = expired[1:]
    report_expired_days(len(expired))
