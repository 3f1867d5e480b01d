"""Ending background tasks: a stop never waits for a task that has missed its cancellation."""

import asyncio
from contextlib import suppress

from shared.background import Loop, end_tasks, running


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


async def test_leaving_the_block_ends_loops_however_often_it_takes() -> None:
    """And a task that has failed is no reason to warn anybody."""
    lost = 0

    async def step() -> bool:
        nonlocal lost
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            lost += 1
            if lost == 1:
                raise ConnectionError from None
            raise
        return False

    async with asyncio.timeout(20):
        async with running([Loop("stubborn", step, idle=0.01)]):
            await asyncio.sleep(0.05)
    assert lost == 2
