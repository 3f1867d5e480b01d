"""Requests that are made at the same time are served in batches."""

import asyncio
from collections.abc import Sequence

import pytest

from shared.batching import Batcher
from tests.harness.eventually import until


class Doubling:
    """A batch that a test can delay, and that fails for 13."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        await self.open.wait()
        if 13 in numbers:
            raise ValueError("unlucky")
        return [number * 2 for number in numbers]


async def test_concurrent_requests_share_one_batch() -> None:
    """Up to its size; each gets its own result."""
    run = Doubling()
    batcher = Batcher(run, max_batch=100)
    results = await asyncio.gather(*(batcher.submit(number) for number in range(20, 170)))
    assert results == [number * 2 for number in range(20, 170)]
    assert [len(batch) for batch in run.batches] == [100, 50]


async def test_requests_during_a_batch_are_in_the_next_one() -> None:
    """A slow database makes the batches larger, not the queue longer."""
    run = Doubling()
    run.open.clear()
    batcher = Batcher(run, max_batch=100, max_running=2)
    pending = []
    for number in (20, 21):
        pending.append(asyncio.create_task(batcher.submit(number)))
        await until(lambda: run.batches[-1:] == [[number]])  # noqa: B023
    pending += [asyncio.create_task(batcher.submit(number)) for number in range(22, 50)]
    await until(lambda: len(batcher) == 28)
    assert run.batches == [[20], [21]]
    run.open.set()
    assert await asyncio.gather(*pending) == [number * 2 for number in range(20, 50)]
    assert run.batches[2:] == [list(range(22, 50))]


async def test_one_failing_request_does_not_fail_the_others() -> None:
    """The batch is repeated one by one, and only the failing request gets the error."""
    batcher = Batcher(Doubling(), max_batch=100)
    results = await asyncio.gather(*map(batcher.submit, (12, 13, 14)), return_exceptions=True)
    assert (results[0], results[2]) == (24, 28)
    assert isinstance(results[1], ValueError)


async def test_a_batch_is_not_repeated_while_the_database_is_away() -> None:
    """Everybody gets the error after one attempt."""
    batches = []

    async def away(numbers: Sequence[int]) -> list[int]:
        batches.append(numbers)
        raise ConnectionRefusedError

    batcher = Batcher(away, max_batch=100)
    results = await asyncio.gather(*map(batcher.submit, range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [ConnectionRefusedError] * 3
    assert batches == [[0, 1, 2]]


async def test_a_cancelled_request_does_not_affect_the_others() -> None:
    """In a batch that runs it is ignored; one that still waits is left out."""
    run = Doubling()
    run.open.clear()
    batcher = Batcher(run, max_batch=100)
    running = [asyncio.create_task(batcher.submit(number)) for number in (20, 21)]
    await until(lambda: bool(run.batches))
    waiting = [asyncio.create_task(batcher.submit(number)) for number in (22, 23)]
    await until(lambda: len(batcher) == 2)
    for gone in (running[0], waiting[0]):
        gone.cancel()
    run.open.set()
    assert [await running[1], await waiting[1]] == [42, 46]
    assert run.batches == [[20, 21], [23]]


async def test_closing_cancels_those_who_wait() -> None:
    """In a batch that runs and in the next one."""
    run = Doubling()
    run.open.clear()
    batcher = Batcher(run, max_batch=1)
    pending = [asyncio.create_task(batcher.submit(number)) for number in (20, 21)]
    await until(lambda: bool(run.batches))
    await batcher.close()
    for one in pending:
        with pytest.raises(asyncio.CancelledError):
            await one
