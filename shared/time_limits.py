"""A time limit for waits that nearly always end at once.

A timer for each would cost more than such a wait does. One timer looks after all.
"""

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from msgspec import Struct

T = TypeVar("T")

# A limit may be exceeded by so much.
LOOK_SECONDS: Final = 0.25


class _Wait(Struct, eq=False):
    task: asyncio.Task[object]
    deadline: float
    cancelled_before: int
    expired: bool = False


class _Watcher:
    """Of one event loop, which it does not keep alive. Its timer runs only while something waits."""

    def __init__(self) -> None:
        self._looking = False
        self._waits: set[_Wait] = set()

    def begin(self, loop: asyncio.AbstractEventLoop, seconds: float) -> _Wait:
        task = asyncio.current_task()
        assert task is not None
        wait = _Wait(task, loop.time() + seconds, task.cancelling())
        self._waits.add(wait)
        if not self._looking:
            self._look_later(loop)
        return wait

    def end(self, wait: _Wait) -> None:
        self._waits.discard(wait)

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._looking = True
        loop.call_later(LOOK_SECONDS, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._looking = False
        now = loop.time()
        for wait in self._waits:
            if wait.deadline <= now and not wait.expired:
                wait.expired = True
                wait.task.cancel()
        if self._waits:
            self._look_later(loop)


_watchers: WeakKeyDictionary[asyncio.AbstractEventLoop, _Watcher] = WeakKeyDictionary()


async def finish_within(seconds: float, work: Awaitable[T]) -> T:
    """The result of `work`. Raises TimeoutError like `asyncio.timeout`, up to `LOOK_SECONDS` later."""
    loop = asyncio.get_running_loop()
    watcher = _watchers.get(loop)
    if watcher is None:
        watcher = _watchers[loop] = _Watcher()
    wait = watcher.begin(loop, seconds)
    try:
        return await work
    except asyncio.CancelledError:
        # Someone else may have cancelled the task at the same moment. Their wish stays.
        if wait.expired and wait.task.cancelling() - 1 <= wait.cancelled_before:
            raise TimeoutError from None
        raise
    finally:
        watcher.end(wait)
        if wait.expired:
            wait.task.uncancel()
