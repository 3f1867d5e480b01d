"""Combines requests that are made at the same time into batches: many requests, one statement."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

from shared.background import end_tasks
from shared.db.unavailable import is_unavailable

Q = TypeVar("Q")
R = TypeVar("R")


class Batcher(Generic[Q, R]):
    """Calls `run` with the requests of a batch; it returns their results in the same order.

    A request never waits for its batch to fill up: what arrives while `max_running` batches run goes into the
    next one. With an `interval` batches start at least that many seconds apart. A batch that fails is run
    again one by one, so that a bad request does not fail the others, unless the database is unavailable.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Q]], Awaitable[Sequence[R]]],
        *,
        max_batch: int,
        max_running: int = 1,
        interval: float = 0.0,
    ) -> None:
        self._run = run
        self._max_batch = max_batch
        self._max_running = max_running
        self._interval = interval
        self._next_start = 0.0
        self._waiting: deque[tuple[Q, asyncio.Future[R]]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = False

    def __len__(self) -> int:
        """How many requests no batch has taken yet."""
        return len(self._waiting)

    async def submit(self, request: Q) -> R:
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, result))
        self._start()
        return await result

    async def close(self) -> None:
        """Cancels all requests."""
        for _, result in self._waiting:
            result.cancel()
        self._waiting.clear()
        await end_tasks(self._tasks)

    def _start(self) -> None:
        """The task starts later, so it includes all requests of this iteration of the event loop."""
        if self._starting or not self._waiting or len(self._tasks) >= self._max_running:
            return
        self._starting = True
        # In an empty context: a batch belongs to no single request.
        task = asyncio.get_running_loop().create_task(self._run_batch(), name="batch", context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        self._start()

    async def _run_batch(self) -> None:
        try:
            if self._interval:
                clock = asyncio.get_running_loop().time
                await asyncio.sleep(self._next_start - clock())
                self._next_start = clock() + self._interval
            batch = self._take()
        finally:
            self._starting = False
        self._start()
        try:
            await self._response(batch)
        finally:
            for _, result in batch:
                result.cancel()

    def _take(self) -> list[tuple[Q, "asyncio.Future[R]"]]:
        """Without the requests whose callers have gone."""
        batch: list[tuple[Q, asyncio.Future[R]]] = []
        while self._waiting and len(batch) < self._max_batch:
            request, result = self._waiting.popleft()
            if not result.done():
                batch.append((request, result))
        return batch

    async def _response(self, batch: list[tuple[Q, "asyncio.Future[R]"]]) -> None:
        if not batch:
            return
        try:
            values = await self._run([request for request, _ in batch])
        except Exception as problem:
            if len(batch) > 1 and not is_unavailable(problem):
                for one in batch:
                    await self._response([one])
                return
            for _, result in batch:
                if not result.done():
                    result.set_exception(problem)
            return
        for (_, result), value in zip(batch, values, strict=True):
            if not result.done():
                result.set_result(value)
