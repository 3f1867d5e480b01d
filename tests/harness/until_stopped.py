"""A long run that ends in order when it is told to: no process stays behind."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def until_stopped(running: Coroutine[Any, Any, T]) -> T:
    """SIGTERM and Ctrl-C cancel it."""
    task = asyncio.ensure_future(running)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task
