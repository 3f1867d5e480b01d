"""A wait ends with its result, with the caller, or with the process."""

import asyncio
from typing import Any

from shared.http.waiting import Stopping, pause, unless_ended


class Caller:
    """Hangs up when told to."""

    def __init__(self) -> None:
        self.gone: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    async def receive(self) -> Any:
        return await self.gone

    def hang_up(self) -> None:
        self.gone.set_result({"type": "http.disconnect"})


async def result(of: "asyncio.Future[int]") -> int:
    return await of


async def test_a_wait_ends_with_whatever_comes_first() -> None:
    """None if the caller has gone or the process is stopped, also before it began."""
    loop, stopping = asyncio.get_running_loop(), Stopping()
    for end, expected in (("done", 5), ("gone", None), ("stopped", None), ("stopped before", None)):
        caller, work = Caller(), loop.create_future()
        waiting = asyncio.create_task(unless_ended(result(work), caller.receive, stopping, 10))
        await asyncio.sleep(0.01)
        if end == "done":
            work.set_result(5)
        elif end == "gone":
            caller.hang_up()
        else:
            stopping.begin()
        assert await waiting == expected, end
        assert not stopping.tells


async def test_a_caller_that_hangs_up_at_the_very_moment_does_no_harm() -> None:
    """In the same turn of the loop as the result."""
    problems: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: problems.append(context))
    caller, work = Caller(), loop.create_future()
    waiting = asyncio.create_task(unless_ended(result(work), caller.receive, None))
    await asyncio.sleep(0.01)
    caller.hang_up()
    work.set_result(5)
    assert await waiting in (5, None)
    await asyncio.sleep(0.01)
    assert problems == []


async def test_a_pause_ends_with_its_time_or_with_the_process() -> None:
    """A stop does not wait for hundreds of refusals that are spaced."""
    stopping = Stopping()
    long = asyncio.create_task(pause(30, stopping))
    await pause(0.05, stopping)
    assert not long.done()
    stopping.begin()
    await asyncio.wait_for(long, 5)
    await asyncio.wait_for(pause(30, stopping), 5)
    assert not stopping.tells
