"""Batching: who waits, for whom, and in which batch."""

import asyncio
from collections.abc import Sequence

import pytest
from msgspec import Struct

from services.bookings.actions.batching import EXTRA_WORKER_AFTER, Batcher
from shared.errors import Unavailable
from tests.harness.eventually import until


class Request(Struct, frozen=True):
    queue_key: str
    dedup_key: int


class FakeWork:
    """Runs a batch once `go` is set, and records every batch."""

    def __init__(self) -> None:
        self.batches: list[tuple[list[int], bool]] = []
        self.go = asyncio.Event()
        self.blocked: set[str] = set()
        self.problem: Exception | None = None

    async def run(
        self, requests: Sequence[Request], wait_for_locks: bool
    ) -> Sequence[str | Exception | None]:
        self.batches.append(([request.dedup_key for request in requests], wait_for_locks))
        if not wait_for_locks:
            await self.go.wait()
            if self.problem is not None:
                raise self.problem
            return [
                None if request.queue_key in self.blocked else f"{request.queue_key}{request.dedup_key}"
                for request in requests
            ]
        while requests[0].queue_key in self.blocked:
            await asyncio.sleep(0.01)
        return [f"{request.queue_key}{request.dedup_key}" for request in requests]


@pytest.fixture
def work() -> FakeWork:
    return FakeWork()


def submit(batcher: Batcher[Request, str], work: FakeWork, key: str, dedup_key: int) -> asyncio.Task[str]:
    return asyncio.create_task(batcher.submit(Request(key, dedup_key), work.run))


async def test_requests_that_arrive_during_a_batch_are_in_the_next_one(work: FakeWork) -> None:
    """One worker: the first request runs at once, the rest as one batch, each with its own answer."""
    batcher: Batcher[Request, str] = Batcher(max_workers=1)
    first = submit(batcher, work, "a", 0)
    await asyncio.sleep(0.01)
    rest = [submit(batcher, work, key, number) for number, key in enumerate("bcb", 1)]
    await asyncio.sleep(0.01)
    assert work.batches == [([0], False)]
    work.go.set()
    assert await asyncio.gather(first, *rest) == ["a0", "b1", "c2", "b3"]
    assert work.batches == [([0], False), ([1, 3, 2], False)]


async def test_a_stuck_batch_delays_its_own_queues_only(work: FakeWork) -> None:
    """A second worker starts, and leaves the queue that is being served alone."""
    batcher: Batcher[Request, str] = Batcher(max_workers=2)
    first = submit(batcher, work, "a", 0)
    await asyncio.sleep(0.01)
    rest = [submit(batcher, work, "a", 1), submit(batcher, work, "b", 2)]
    await until(lambda: len(work.batches) == 2)
    assert work.batches == [([0], False), ([2], False)]
    work.go.set()
    assert await asyncio.gather(first, *rest) == ["a0", "a1", "b2"]


async def test_a_batch_has_a_maximum_size(work: FakeWork) -> None:
    """The rest comes in the next batches, in order of arrival."""
    batcher: Batcher[Request, str] = Batcher(max_workers=1, max_batch=2)
    work.go.set()
    requests = [submit(batcher, work, "a", number) for number in range(5)]
    await asyncio.gather(*requests)
    assert work.batches == [([0, 1], False), ([2, 3], False), ([4], False)]


async def test_a_duplicate_in_flight_runs_by_itself(work: FakeWork) -> None:
    """The same request twice at once: the duplicate is not queued behind the first."""
    batcher: Batcher[Request, str] = Batcher()
    first = submit(batcher, work, "a", 0)
    await asyncio.sleep(0.01)
    assert await submit(batcher, work, "a", 0) == "a0"
    assert work.batches == [([0], False), ([0], True)]
    work.go.set()
    assert await first == "a0"
    assert await submit(batcher, work, "a", 0) == "a0"
    assert work.batches[-1] == ([0], False)


async def test_a_failure_reaches_everyone_in_the_batch_and_nobody_after(work: FakeWork) -> None:
    """The next batch runs normally."""
    batcher: Batcher[Request, str] = Batcher()
    work.problem = RuntimeError("no")
    work.go.set()
    requests = [submit(batcher, work, "a", number) for number in range(2)]
    problems = await asyncio.gather(*requests, return_exceptions=True)
    assert [str(problem) for problem in problems] == ["no", "no"]
    work.problem = None
    assert await submit(batcher, work, "a", 0) == "a0"


async def test_a_cancelled_request_is_not_run(work: FakeWork) -> None:
    """A cancelled request that is still queued is dropped."""
    batcher: Batcher[Request, str] = Batcher(max_workers=1)
    first, gone = submit(batcher, work, "a", 0), submit(batcher, work, "b", 1)
    await asyncio.sleep(0)
    gone.cancel()
    last = submit(batcher, work, "b", 2)
    await asyncio.sleep(0)
    work.go.set()
    await asyncio.gather(first, last)
    assert 1 not in [number for numbers, _ in work.batches for number in numbers]


async def test_an_unblocked_queue_runs_while_another_batch_is_stuck(work: FakeWork) -> None:
    """Requests behind a blocked one start without waiting for a new arrival."""
    batcher: Batcher[Request, str] = Batcher(max_workers=2)
    work.blocked = {"a"}
    work.go.set()
    slow = submit(batcher, work, "a", 0)
    await until(lambda: ([0], True) in work.batches)
    work.go.clear()
    hanging = submit(batcher, work, "b", 1)
    behind = submit(batcher, work, "a", 2)
    await asyncio.sleep(EXTRA_WORKER_AFTER * 2)
    work.blocked = set()
    assert await slow == "a0"
    await until(lambda: ([2], False) in work.batches)
    work.go.set()
    assert [await hanging, await behind] == ["b1", "a2"]


async def test_queued_requests_time_out(work: FakeWork, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that waited too long gets 503, even while the batch before it is stuck."""
    monkeypatch.setattr("services.bookings.actions.batching.QUEUE_TIMEOUT", 0.02)
    batcher: Batcher[Request, str] = Batcher(max_workers=1)
    first = submit(batcher, work, "a", 0)
    await asyncio.sleep(0.01)
    late = [submit(batcher, work, key, number) for number, key in enumerate("ab", 1)]
    async with asyncio.timeout(5):
        refused = await asyncio.gather(*late, return_exceptions=True)
    assert [type(problem) for problem in refused] == [Unavailable, Unavailable]
    work.go.set()
    assert await first == "a0"
    assert await submit(batcher, work, "b", 3) == "b3"
    assert work.batches == [([0], False), ([3], False)]
