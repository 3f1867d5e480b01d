"""Responses that are waited for: the wait ends with the caller, and with the process."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from shared.http.asgi import Receive

T = TypeVar("T")
# In a request's scope: an event that is set once the process is being stopped.
STOPPING: Final = "studio.stopping"


async def until_gone(receive: Receive) -> None:
    """Returns once the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def unless_ended(
    work: Coroutine[Any, Any, T], receive: Receive, stopping: asyncio.Event | None
) -> T | None:
    """What `work` returns. None if it was given up, because the client has gone or the process is stopped."""
    task = asyncio.create_task(work)
    ends: list[asyncio.Task[Any]] = [asyncio.create_task(until_gone(receive))]
    if stopping is not None:
        ends.append(asyncio.create_task(stopping.wait()))
    try:
        await asyncio.wait({task, *ends}, return_when=asyncio.FIRST_COMPLETED)
        return await task if task.done() else None
    finally:
        for one in (task, *ends):
            one.cancel()
