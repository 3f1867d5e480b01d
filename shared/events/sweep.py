"""Finds rows of the outbox that a relay would not expect: those below the ids where it starts to read.

The reconciler may take a row back from the parked ones; a restored database counts its ids from an earlier
one. Reading from the beginning takes seconds while an old snapshot (a `pg_dump`) keeps millions of rows that
are gone, so it happens beside the claims.
"""

import asyncio
import time

import structlog

from shared.background import end_tasks
from shared.db.database import Database
from shared.events.lanes import Lanes

log = structlog.get_logger("relay")

SWEEP_EVERY = 5.0
# At most this part of the time.
SWEEP_SHARE = 0.05
SWEEP_AT_LEAST_EVERY = 60.0
SWEEP_TIMEOUT = 300.0

UNEXPECTED = """
SELECT o.bucket, min(o.id) AS id FROM outbox o
JOIN unnest($1::smallint[], $2::bigint[]) AS expected (bucket, start) ON o.bucket = expected.bucket
WHERE o.id < expected.start AND o.id < $3 AND o.parked_at IS NULL GROUP BY o.bucket
"""


class Sweep:
    def __init__(self, database: Database, lanes: Lanes) -> None:
        self._database = database
        self._lanes = lanes
        self._task: asyncio.Task[None] | None = None
        self._due = time.monotonic() + SWEEP_EVERY

    def poll(self) -> None:
        """Starts a sweep if one is due."""
        if time.monotonic() >= self._due and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._sweep())

    async def stop(self) -> None:
        if self._task is not None:
            await end_tasks([self._task])

    async def _sweep(self) -> None:
        started = time.monotonic()
        try:
            starts = self._lanes.start_of_each()
            if starts:
                before = max(starts.values())
                async with self._database.connection() as conn:
                    rows = await conn.fetch(
                        UNEXPECTED, list(starts), list(starts.values()), before, timeout=SWEEP_TIMEOUT
                    )
                for row in rows:
                    self._lanes.found(row["bucket"], row["id"])
        except Exception as problem:
            log.warning("sweep_failed", error=type(problem).__name__)
        finally:
            took = time.monotonic() - started
            self._due = time.monotonic() + max(SWEEP_EVERY, min(took / SWEEP_SHARE, SWEEP_AT_LEAST_EVERY))
