"""Combines the same query of many lanes into one statement."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from shared.db.database import Connection, Database
from shared.db.unavailable import is_unavailable

Request = TypeVar("Request")
Answer = TypeVar("Answer")

BATCH = 100
# Two, so that one slow statement does not hold up every lane.
MAX_RUNNING = 2


class Batcher(Generic[Request, Answer]):
    """Requests that arrive while the statements run go into the next one. Nothing waits for a timer."""

    def __init__(
        self,
        database: Database,
        statement: Callable[[Connection, Sequence[Request]], Awaitable[Sequence[Answer]]],
    ) -> None:
        self._database = database
        self._statement = statement
        self._waiting: deque[tuple[Request, asyncio.Future[Answer]]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = False

    async def ask(self, request: Request) -> Answer:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, answer))
        self._start()
        return await answer

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
            await self._answer(taken)
        finally:
            for _, answer in taken:
                answer.cancel()

    async def _answer(self, taken: list[tuple[Request, "asyncio.Future[Answer]"]]) -> None:
        try:
            async with self._database.connection() as conn:
                answers = await self._statement(conn, [request for request, _ in taken])
        except Exception as problem:
            if len(taken) > 1 and not is_unavailable(problem):
                # A lane whose request fails must not fail the others.
                for one in taken:
                    await self._answer([one])
                return
            for _, answer in taken:
                if not answer.done():
                    answer.set_exception(problem)
            return
        for (_, answer), value in zip(taken, answers, strict=True):
            if not answer.done():
                answer.set_result(value)

    async def close(self) -> None:
        self._waiting.clear()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
