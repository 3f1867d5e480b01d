"""Waiting for a fact instead of for time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any


async def eventually(fact: Callable[[], Awaitable[Any]], *, seconds: float = 30) -> Any:
    """The first true answer of `fact`; TimeoutError where none comes in time."""
    async with asyncio.timeout(seconds):
        while not (answer := await fact()):
            await asyncio.sleep(0.05)
    return answer
