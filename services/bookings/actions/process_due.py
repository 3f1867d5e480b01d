"""What time has made due, of every studio: each in a transaction of its own."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import asyncpg
import structlog

from services.bookings.context import Bookings
from shared.db.database import Connection
from shared.http.caller import Caller

log = structlog.get_logger("bookings")

AT_ONCE = 100

Place = tuple[datetime, str, str]
# Finds at most so many after a place: rows of studio, id and the moment that made them due, in that order.
Find = Callable[[Connection, int, Place | None], Awaitable[list[asyncpg.Record]]]
Act = Callable[[Bookings, Caller, str], Awaitable[object]]


async def process_due(service: Bookings, find: Find, act: Act, *, failed: str) -> None:
    """All that are due now. One that fails is told as `failed` and left for the next time."""
    after: Place | None = None
    while True:
        async with service.db.connection() as conn:
            found = await find(conn, AT_ONCE, after)
        for studio_id, row_id, moment in found:
            after = (moment, studio_id, row_id)
            try:
                await act(service, Caller(studio_id=studio_id, actor="operator"), row_id)
            except Exception:
                log.exception(failed, studio_id=studio_id, id=row_id)
        if len(found) < AT_ONCE:
            return
