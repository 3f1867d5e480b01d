"""Batched completion: results that arrive during one write go into the next."""

import asyncio
from collections import deque

import structlog

from services.webhooks.store import attempts
from services.webhooks.store.attempts import Completed
from shared.background import Backoff
from shared.db.database import Database
from shared.db.unavailable import is_unavailable

log = structlog.get_logger("dispatcher")

BATCH = 256
# While the database is away. Deliveries go on this soon after it is back.
LONGEST_PAUSE = 1.0


class Completer:
    """Keeps results until they are written, so a database restart delays them but loses none."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[tuple[Completed, asyncio.Future[bool]]] = deque()
        self._has_work = asyncio.Event()

    async def record(self, completed: Completed) -> bool:
        """Returns after the commit. False when it was fenced off because the lane has a new owner."""
        written: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((completed, written))
        self._has_work.set()
        return await written

    async def run(self) -> None:
        backoff = Backoff(longest=LONGEST_PAUSE)
        while True:
            await self._has_work.wait()
            taken = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            if not self._waiting:
                self._has_work.clear()
            try:
                ids = await self._write([completed for completed, _ in taken], backoff)
            except BaseException:
                for _, written in taken:
                    written.cancel()
                raise
            for completed, written in taken:
                if not written.done():
                    written.set_result(completed.delivery_id in ids)

    async def _write(self, batch: list[Completed], backoff: Backoff) -> set[str]:
        while True:
            try:
                async with self._database.connection() as conn:
                    ids = await attempts.complete(conn, batch)
            except Exception as problem:
                if not is_unavailable(problem):
                    log.error("completion_failed", deliveries=len(batch), exc_info=True)
                    return await self._write_one_by_one(batch) if len(batch) > 1 else set()
                log.warning("completion_delayed", deliveries=len(batch), error=type(problem).__name__)
                await backoff.pause()
                continue
            backoff.reset()
            return ids

    async def _write_one_by_one(self, batch: list[Completed]) -> set[str]:
        """A result that cannot be stored must not fail the rest of its batch."""
        ids: set[str] = set()
        for completed in batch:
            ids |= await self._write([completed], Backoff(longest=LONGEST_PAUSE))
        return ids
