"""Processes rows of every studio whose time has come, each in its own transaction."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import asyncpg
import structlog

from services.bookings.context import Bookings
from shared.db.database import Connection
from shared.http.caller import Caller

log = structlog.get_logger("bookings")

BATCH_SIZE = 100

Cursor = tuple[datetime, str, str]
# Finds at most that many rows after the cursor: studio, id and due time, ordered by due time.
Find = Callable[[Connection, int, Cursor | None], Awaitable[list[asyncpg.Record]]]
Act = Callable[[Bookings, Caller, str], Awaitable[object]]


async def process_due(service: Bookings, find: Find, act: Act, *, failed: str) -> None:
    """Everything that is due now. A row that fails is logged as `failed` and retried next time."""
    after: Cursor | None = None
    while True:
        async with service.db.connection() as conn:
            found = await find(conn, BATCH_SIZE, after)
        for studio_id, row_id, moment in found:
            after = (moment, studio_id, row_id)
            try:
                await act(service, Caller(studio_id=studio_id, actor="operator"), row_id)
            except Exception:
                log.exception(failed, studio_id=studio_id, id=row_id)
        if len(found) < BATCH_SIZE:
            return
