"""Responses that are waited for: the wait ends with the caller, and with the process."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from shared.http.asgi import Receive

T = TypeVar("T")
# In a request's scope: a `Stopping`.
STOPPING: Final = "studio.stopping"


class Stopping:
    """Whether the process is being stopped. Whoever waits is told."""

    def __init__(self) -> None:
        self.began = False
        self.tells: set[Callable[[], None]] = set()

    def begin(self) -> None:
        self.began = True
        for tell in list(self.tells):
            tell()


async def pause(seconds: float, stopping: Stopping | None) -> None:
    """Ends at once when the process is being stopped."""
    if stopping is not None and stopping.began:
        return
    over = asyncio.Event()
    timer = asyncio.get_running_loop().call_later(seconds, over.set)
    if stopping is not None:
        stopping.tells.add(over.set)
    try:
        await over.wait()
    finally:
        timer.cancel()
        if stopping is not None:
            stopping.tells.discard(over.set)


async def until_gone(receive: Receive) -> None:
    """Returns once the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def unless_ended(
    work: Coroutine[Any, Any, T], receive: Receive, stopping: Stopping | None, seconds: float | None = None
) -> T | None:
    """What `work` returns. None if it was given up, because the client has gone or the process is stopped.

    Raises TimeoutError after `seconds`.
    """
    if stopping is not None and stopping.began:
        work.close()
        return None
    ended = finished = False
    gone = asyncio.create_task(until_gone(receive))
    limit = asyncio.timeout(seconds)

    def end(_: object = None) -> None:
        nonlocal ended
        if not finished and not limit.expired():
            ended = True
            limit.reschedule(0)

    try:
        async with limit:
            gone.add_done_callback(end)
            if stopping is not None:
                stopping.tells.add(end)
            try:
                return await work
            finally:
                # The client may hang up in the same turn: what is scheduled then cannot be taken back.
                finished = True
                gone.remove_done_callback(end)
                if stopping is not None:
                    stopping.tells.discard(end)
    except TimeoutError:
        if not ended:
            raise
        return None
    finally:
        gone.cancel()
