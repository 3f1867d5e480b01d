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


async def test_a_duplicate_that_cannot_be_locked_gets_503(work: FakeWork) -> None:
    """Nothing was done: its class came with an import that has it locked."""

    async def not_locked(requests: Sequence[Request], wait_for_locks: bool) -> Sequence[None]:
        return [None] * len(requests)

    batcher: Batcher[Request, str] = Batcher()
    first = submit(batcher, work, "a", 0)
    await asyncio.sleep(0.01)
    with pytest.raises(Unavailable):
        await batcher.submit(Request("a", 0), not_locked)
    work.go.set()
    assert await first == "a0"


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
