"""Waits with a limit and without a timer of their own."""

import asyncio
import time

import pytest

from shared.time_limits import LOOK_SECONDS, finish_within


async def _result(value: str, after: float = 0.0) -> str:
    await asyncio.sleep(after)
    return value


async def test_what_ends_in_time_is_returned() -> None:
    assert await finish_within(5, _result("at once")) == "at once"
    assert await finish_within(5, _result("later", after=LOOK_SECONDS * 2)) == "later"


async def test_what_takes_too_long_is_ended() -> None:
    ended = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        await finish_within(0.1, hang())
    assert ended.is_set()
    assert 0.1 <= time.monotonic() - began < 0.1 + LOOK_SECONDS + 1
    # The task itself is not cancelled, and goes on.
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert await finish_within(5, _result("goes on")) == "goes on"


async def test_each_wait_has_its_own_limit() -> None:
    short = asyncio.create_task(finish_within(0.1, _result("short", after=60)))
    long = asyncio.create_task(finish_within(5, _result("long", after=LOOK_SECONDS * 4)))
    with pytest.raises(TimeoutError):
        await short
    assert await long == "long"


async def test_one_limit_inside_another() -> None:
    async def inner() -> str:
        with pytest.raises(TimeoutError):
            await finish_within(0.1, _result("never", after=60))
        return "outer goes on"

    assert await finish_within(5, inner()) == "outer goes on"


async def test_an_error_of_the_work_is_passed_on() -> None:
    async def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await finish_within(5, fail())


async def test_who_cancels_the_task_is_not_told_of_a_time_limit() -> None:
    task = asyncio.create_task(finish_within(60, _result("never", after=60)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelled_at_the_moment_the_time_ran_out() -> None:
    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            task.cancel()  # beside the limit's own
            raise

    task = asyncio.create_task(finish_within(0.1, hang()))
    with pytest.raises(asyncio.CancelledError):
        await task
