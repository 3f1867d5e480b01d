"""Waiting for a condition instead of for time."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
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


def run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    """For a synchronous fixture, outside the tests' own event loop."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, work).result()
