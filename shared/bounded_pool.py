"""Slot accounting of a bounded pool. The database pool and the upstream HTTP pool share it."""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class PoolSlots(Generic[T]):
    """Idle items, free slots, and a FIFO queue of callers that wait for either.

    An open item occupies a slot. A result of None means a free slot: the caller may open one more item, and
    must release the slot if that fails.
    """

    def __init__(self, size: int) -> None:
        self.free = size
        self.idle: list[T] = []  # last in, first out, so that surplus items stay idle and can be closed
        self._waiters: deque[asyncio.Future[T | None]] = deque()

    @property
    def waiting(self) -> int:
        return len(self._waiters)

    def take_slot(self) -> bool:
        if not self.free:
            return False
        self.free -= 1
        return True

    async def wait(self) -> T | None:
        waiter: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.cancelled():
                with suppress(ValueError):
                    self._waiters.remove(waiter)
            else:  # granted and cancelled at the same time: pass it on
                self.release(waiter.result())
            raise

    def release(self, item: T | None) -> None:
        """Passes it to the first waiter. Without one, the item becomes idle or the slot free."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(item)
                return
        if item is None:
            self.free += 1
        else:
            self.idle.append(item)
