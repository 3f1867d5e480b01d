"""Served batcher: who waits, for whom, and with whom."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from msgspec import Struct

from services.bookings.actions.batching import EXTRA_WORKER_AFTER, Batcher
from shared.errors import Unavailable


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


async def test_who_comes_while_others_are_served_is_in_the_next_batch(work: FakeWork) -> None:
    """One worker: the first goes at once and alone, the rest batcher, each with its own answer."""
    batcher: Batcher[Request, str] = Batcher(max_workers=1)
    first = submit(batcher, work, "a", 0)
    await asyncio.sleep(0.01)
    rest = [submit(batcher, work, key, number) for number, key in enumerate("bcb", 1)]
    await asyncio.sleep(0.01)
    assert work.batches == [([0], False)]
    work.go.set()
    assert await asyncio.gather(first, *rest) == ["a0", "b1", "c2", "b3"]
    assert work.batches == [([0], False), ([1, 3, 2], False)]


async def test_a_batch_that_hangs_holds_up_its_own_lines_only(work: FakeWork) -> None:
    """A second worker comes to help, and still leaves the line that is being served alone."""
    batcher: Batcher[Request, str] = Batcher(max_workers=2)
    first = submit(batcher, work, "a", 0)
    await asyncio.sleep(0.01)
    rest = [submit(batcher, work, "a", 1), submit(batcher, work, "b", 2)]
    async with asyncio.timeout(5):
        while len(work.batches) < 2:
            await asyncio.sleep(0.01)
    assert work.batches == [([0], False), ([2], False)]
    work.go.set()
    assert await asyncio.gather(first, *rest) == ["a0", "a1", "b2"]


async def test_a_batch_has_its_bound(work: FakeWork) -> None:
    """What is beyond it comes next, in the order in which it came."""
    batcher: Batcher[Request, str] = Batcher(max_workers=1, max_batch=2)
    work.go.set()
    requests = [submit(batcher, work, "a", number) for number in range(5)]
    await asyncio.gather(*requests)
    assert work.batches == [([0, 1], False), ([2, 3], False), ([4], False)]


async def test_only_those_who_must_wait_wait(work: FakeWork) -> None:
    """A blocked line is served by itself, patiently; the others have their answers long before."""
    batcher: Batcher[Request, str] = Batcher(max_workers=1)
    work.blocked = {"a"}
    work.go.set()
    slow = submit(batcher, work, "a", 0)
    quick = [submit(batcher, work, "b", 1), submit(batcher, work, "c", 2)]
    assert await asyncio.gather(*quick) == ["b1", "c2"]
    later = submit(batcher, work, "a", 3)
    assert await submit(batcher, work, "b", 4) == "b4"
    assert not slow.done() and not later.done()
    work.blocked = set()
    assert [await slow, await later] == ["a0", "a3"]


async def test_a_repetition_goes_by_itself(work: FakeWork) -> None:
    """The same request twice at once: the second does not stand in line behind the first."""
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
    """The next batch is served as if nothing had been."""
    batcher: Batcher[Request, str] = Batcher()
    work.problem = RuntimeError("no")
    work.go.set()
    requests = [submit(batcher, work, "a", number) for number in range(2)]
    assert [str(problem) for problem in await asyncio.gather(*requests, return_exceptions=True)] == [
        "no",
        "no",
    ]
    work.problem = None
    assert await submit(batcher, work, "a", 0) == "a0"


async def test_who_has_gone_is_not_served(work: FakeWork) -> None:
    """A cancelled ask that still stands in line is passed over."""
    batcher: Batcher[Request, str] = Batcher(max_workers=1)
    first, gone = submit(batcher, work, "a", 0), submit(batcher, work, "b", 1)
    await asyncio.sleep(0)
    gone.cancel()
    last = submit(batcher, work, "b", 2)
    await asyncio.sleep(0)
    work.go.set()
    await asyncio.gather(first, last)
    assert 1 not in [number for numbers, _ in work.batches for number in numbers]


async def test_a_line_that_comes_free_is_served_though_a_batch_of_others_hangs(work: FakeWork) -> None:
    """Who stood behind a blocked ask needs nobody else to come before a second worker does."""
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


async def test_nobody_stands_in_line_for_ever(work: FakeWork, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited too long is told that nothing was done, also while the batch before still hangs."""
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


async def until(fact: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not fact():
            await asyncio.sleep(0.01)
