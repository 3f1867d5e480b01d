"""Waiting for a condition instead of for time."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


async def eventually(fact: Callable[[], Awaitable[T | None]], *, seconds: float = 60) -> T:
    """The first true result of `fact`. Raises TimeoutError if there is none in time."""
    async with asyncio.timeout(seconds):
        while not (result := await fact()):
            await asyncio.sleep(0.05)
    return result


async def until(fact: Callable[[], bool], *, seconds: float = 60) -> None:
    """Returns once `fact` is true. Raises TimeoutError if that takes too long."""
    async with asyncio.timeout(seconds):
        while not fact():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def in_background(*work: Coroutine[Any, Any, Any]) -> AsyncIterator[None]:
    """Cancelled at the end of the block."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    """For a synchronous fixture, outside the tests' own event loop."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, work).result()


async def until_stopped(running: Coroutine[Any, Any, T]) -> T:
    """A long run that ends in order: SIGTERM and Ctrl-C cancel it, and no process stays behind."""
    task = asyncio.ensure_future(running)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task
