"""What lanes read and write goes through batches: many requests in one statement, without a timer."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import structlog

from services.webhooks.store import attempts
from services.webhooks.store.attempts import Completed
from shared.background import Backoff
from shared.db.database import Connection, Database
from shared.db.unavailable import is_unavailable

log = structlog.get_logger("dispatcher")

Request = TypeVar("Request")
Result = TypeVar("Result")

BATCH = 100
# Two, so that one slow statement does not hold up every lane.
MAX_RUNNING = 2


class Batcher(Generic[Request, Result]):
    """Requests that arrive while the statements run go into the next one. Nothing waits for a timer."""

    def __init__(
        self,
        database: Database,
        statement: Callable[[Connection, Sequence[Request]], Awaitable[Sequence[Result]]],
    ) -> None:
        self._database = database
        self._statement = statement
        self._waiting: deque[tuple[Request, asyncio.Future[Result]]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = False

    async def ask(self, request: Request) -> Result:
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, result))
        self._start()
        return await result

    def _start(self) -> None:
        """The task starts later, so it includes all requests of this iteration of the event loop."""
        if self._starting or not self._waiting or len(self._tasks) >= MAX_RUNNING:
            return
        self._starting = True
        task = asyncio.create_task(self._run(), name="batcher")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._start()

    async def _run(self) -> None:
        taken = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        self._starting = False
        self._start()
        try:
            await self._run_statement(taken)
        finally:
            for _, result in taken:
                result.cancel()

    async def _run_statement(self, taken: list[tuple[Request, "asyncio.Future[Result]"]]) -> None:
        try:
            async with self._database.connection() as conn:
                results = await self._statement(conn, [request for request, _ in taken])
        except Exception as problem:
            if len(taken) > 1 and not is_unavailable(problem):
                # A lane whose request fails must not fail the others.
                for one in taken:
                    await self._run_statement([one])
                return
            for _, result in taken:
                if not result.done():
                    result.set_exception(problem)
            return
        for (_, result), value in zip(taken, results, strict=True):
            if not result.done():
                result.set_result(value)

    async def close(self) -> None:
        self._waiting.clear()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


RESULTS = 256
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
            taken = [self._waiting.popleft() for _ in range(min(RESULTS, len(self._waiting)))]
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
