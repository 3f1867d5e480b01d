"""Background loops survive a failing step and report their age; a stop waits for no lost cancellation."""

import asyncio
from contextlib import suppress

from shared.background import Loop, end_tasks, running
from tests.harness.eventually import until


async def test_a_loop_survives_a_bad_step_and_shows_its_age() -> None:
    """It logs, backs off and goes on; one that only fails is shown as not ready."""
    steps = 0

    async def sometimes() -> bool:
        nonlocal steps
        steps += 1
        if steps == 1:
            raise asyncio.CancelledError  # as aiormq does; nobody has cancelled the loop
        if steps == 2:
            raise ValueError("once more")
        return False

    loop = Loop("test", sometimes, idle=0.01)
    async with running([loop]):
        await until(lambda: steps >= 5, seconds=10)
    assert loop.failures == 0
    assert loop.problem() is None

    async def never() -> bool:
        raise ValueError("always")

    sick = Loop("sick", never, idle=0.01, stale_after=0.05)
    async with running([sick]):
        await until(lambda: sick.problem() is not None, seconds=10)
    assert "sick has not succeeded" in str(sick.problem())


async def test_a_task_that_loses_a_cancellation_is_cancelled_again() -> None:
    """As with aiormq: the cancellation comes out as another error, and the loop goes on."""
    lost = 0

    async def stubborn() -> None:
        nonlocal lost
        while True:
            with suppress(ConnectionError):
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    if lost == 2:
                        raise
                    lost += 1
                    raise ConnectionError from None

    async with asyncio.timeout(20):
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        await end_tasks([task])
    assert task.cancelled() and lost == 2
