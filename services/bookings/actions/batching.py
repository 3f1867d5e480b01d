"""Requests that would wait for the database one after the other are served together, many by one transaction.

Nobody waits to make a batch larger: whoever comes while one is being served is in the next.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextvars import Context
from typing import Any, Generic, Protocol, TypeVar

from shared.errors import Unavailable

PATIENCE = 5.0
# One worker makes the largest batches: 0.93 of the floor for bookings, where two made 0.86 and four 0.83. A
# second one helps out when a batch takes longer than this, so that one that hangs holds nobody else up.
HELP_AFTER = 0.25


class Asking(Protocol):
    """Asks of one `line` are in one batch at a time. Two with the same `mark` are the same request twice."""

    @property
    def line(self) -> Hashable: ...

    @property
    def mark(self) -> Hashable: ...


A = TypeVar("A", bound=Asking)
R = TypeVar("R")
# For each ask its result, what it failed with, or None: it would have had to wait for somebody else's lock.
Serve = Callable[[Sequence[A], bool], Awaitable[Sequence[R | Exception | None]]]


class Turn(Generic[A, R]):
    __slots__ = ("ask", "came_at", "result")

    def __init__(self, ask: A) -> None:
        self.ask = ask
        self.came_at = time.monotonic()
        self.result: asyncio.Future[R] = asyncio.get_running_loop().create_future()


class Together(Generic[A, R]):
    """`serve` is called with a batch and False, and again with True for those who must wait: line by line, so
    that only they wait. A repetition goes by itself and is patient from the start."""

    def __init__(self, *, most: int = 64, at_once: int = 4) -> None:
        self._most = most
        self._at_once = at_once
        self._lines: dict[Hashable, deque[Turn[A, R]]] = {}  # somebody waits there, or is being served
        self._free: deque[Hashable] = deque()  # the lines that nobody is serving
        self._marks: set[Hashable] = set()  # of everyone in line or being served
        self._workers = 0
        self._began_at = 0.0  # the latest batch
        self._watch: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def served(self, ask: A, serve: "Serve[A, R]") -> R:
        if ask.mark in self._marks:
            (result,) = await serve([ask], True)
            if isinstance(result, Exception):
                raise result
            assert result is not None
            return result
        turn: Turn[A, R] = Turn(ask)
        self._marks.add(ask.mark)
        line = self._lines.get(ask.line)
        if line is None:
            line = self._lines[ask.line] = deque()
            self._free.append(ask.line)
        line.append(turn)
        self._help_out(serve)
        if self._watch is None:
            self._look_again(serve)
        return await turn.result

    def _look_again(self, serve: "Serve[A, R]") -> None:
        self._watch = asyncio.get_running_loop().call_later(HELP_AFTER, self._look_after, serve)

    def _look_after(self, serve: "Serve[A, R]") -> None:
        """While anybody waits: whatever holds a line up, nobody stands in it for ever."""
        self._watch = None
        for line in self._lines.values():
            self._refuse_late(line)
        self._help_out(serve)
        if any(self._lines.values()):
            self._look_again(serve)

    def _help_out(self, serve: "Serve[A, R]") -> None:
        now = time.monotonic()
        if self._workers and now - self._began_at < HELP_AFTER:
            return
        if self._free and self._workers < self._at_once:
            self._workers += 1
            self._began_at = now
            self._begin(self._work(serve))

    def _begin(self, work: Any) -> None:
        """In a context of its own: a batch belongs to no single request."""
        task = asyncio.get_running_loop().create_task(work, context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, serve: "Serve[A, R]") -> None:
        try:
            while batch := self._take():
                self._began_at = time.monotonic()
                await self._serve(batch, serve)
        finally:
            self._workers -= 1

    def _take(self) -> list[Turn[A, R]]:
        batch: list[Turn[A, R]] = []
        for _ in range(len(self._free)):
            name = self._free.popleft()
            line = self._lines[name]
            self._refuse_late(line)
            taken = len(batch)
            while line and len(batch) < self._most:
                turn = line.popleft()
                if turn.result.done():
                    self._marks.discard(turn.ask.mark)
                else:
                    batch.append(turn)
            if len(batch) == taken:
                self._leave(name)
            if len(batch) == self._most:
                break
        return batch

    def _refuse_late(self, line: deque[Turn[A, R]]) -> None:
        oldest = time.monotonic() - PATIENCE
        while line and line[0].came_at < oldest:
            self._settle(line.popleft(), Unavailable())

    def _leave(self, name: Hashable) -> None:
        if self._lines[name]:
            self._free.append(name)
        else:
            del self._lines[name]

    async def _serve(self, batch: list[Turn[A, R]], serve: "Serve[A, R]") -> None:
        waiting: dict[Hashable, list[Turn[A, R]]] = defaultdict(list)
        for turn, result in zip(batch, await self._results(batch, serve, patient=False), strict=True):
            if result is None:
                waiting[turn.ask.line].append(turn)
            else:
                self._settle(turn, result)
        for name in {turn.ask.line for turn in batch} - waiting.keys():
            self._leave(name)
        for name, turns in waiting.items():
            self._begin(self._wait(name, turns, serve))

    async def _wait(self, name: Hashable, turns: list[Turn[A, R]], serve: "Serve[A, R]") -> None:
        for turn, result in zip(turns, await self._results(turns, serve, patient=True), strict=True):
            self._settle(turn, Unavailable() if result is None else result)
        self._leave(name)
        self._help_out(serve)

    def _settle(self, turn: Turn[A, R], result: R | Exception) -> None:
        self._marks.discard(turn.ask.mark)
        if turn.result.done():
            return
        if isinstance(result, Exception):
            turn.result.set_exception(result)
        else:
            turn.result.set_result(result)

    async def _results(
        self, turns: list[Turn[A, R]], serve: "Serve[A, R]", *, patient: bool
    ) -> Sequence[R | Exception | None]:
        try:
            return await serve([turn.ask for turn in turns], patient)
        except Exception as problem:
            return [problem] * len(turns)
        except BaseException:
            for turn in turns:
                self._marks.discard(turn.ask.mark)
                turn.result.cancel()
            raise
