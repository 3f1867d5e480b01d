"""Served together: who waits, for whom, and with whom."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from msgspec import Struct

from services.bookings.actions.batching import HELP_AFTER, Together
from shared.errors import Unavailable


class Ask(Struct, frozen=True):
    line: str
    mark: int


class Counter:
    """Serves when it is let; remembers each batch."""

    def __init__(self) -> None:
        self.batches: list[tuple[list[int], bool]] = []
        self.go = asyncio.Event()
        self.blocked: set[str] = set()
        self.problem: Exception | None = None

    async def serve(self, asks: Sequence[Ask], patient: bool) -> Sequence[str | Exception | None]:
        self.batches.append(([ask.mark for ask in asks], patient))
        if not patient:
            await self.go.wait()
            if self.problem is not None:
                raise self.problem
            return [None if ask.line in self.blocked else f"{ask.line}{ask.mark}" for ask in asks]
        while asks[0].line in self.blocked:
            await asyncio.sleep(0.01)
        return [f"{ask.line}{ask.mark}" for ask in asks]


@pytest.fixture
def counter() -> Counter:
    return Counter()


def asking(together: Together[Ask, str], counter: Counter, line: str, mark: int) -> asyncio.Task[str]:
    return asyncio.create_task(together.served(Ask(line, mark), counter.serve))


async def test_who_comes_while_others_are_served_is_in_the_next_batch(counter: Counter) -> None:
    """One worker: the first goes at once and alone, the rest together, each with its own answer."""
    together: Together[Ask, str] = Together(at_once=1)
    first = asking(together, counter, "a", 0)
    await asyncio.sleep(0.01)
    rest = [asking(together, counter, line, mark) for mark, line in enumerate("bcb", 1)]
    await asyncio.sleep(0.01)
    assert counter.batches == [([0], False)]
    counter.go.set()
    assert await asyncio.gather(first, *rest) == ["a0", "b1", "c2", "b3"]
    assert counter.batches == [([0], False), ([1, 3, 2], False)]


async def test_a_batch_that_hangs_holds_up_its_own_lines_only(counter: Counter) -> None:
    """A second worker comes to help, and still leaves the line that is being served alone."""
    together: Together[Ask, str] = Together(at_once=2)
    first = asking(together, counter, "a", 0)
    await asyncio.sleep(0.01)
    rest = [asking(together, counter, "a", 1), asking(together, counter, "b", 2)]
    async with asyncio.timeout(5):
        while len(counter.batches) < 2:
            await asyncio.sleep(0.01)
    assert counter.batches == [([0], False), ([2], False)]
    counter.go.set()
    assert await asyncio.gather(first, *rest) == ["a0", "a1", "b2"]


async def test_a_batch_has_its_bound(counter: Counter) -> None:
    """What is beyond it comes next, in the order in which it came."""
    together: Together[Ask, str] = Together(at_once=1, most=2)
    counter.go.set()
    asks = [asking(together, counter, "a", mark) for mark in range(5)]
    await asyncio.gather(*asks)
    assert counter.batches == [([0, 1], False), ([2, 3], False), ([4], False)]


async def test_only_those_who_must_wait_wait(counter: Counter) -> None:
    """A blocked line is served by itself, patiently; the others have their answers long before."""
    together: Together[Ask, str] = Together(at_once=1)
    counter.blocked = {"a"}
    counter.go.set()
    slow = asking(together, counter, "a", 0)
    quick = [asking(together, counter, "b", 1), asking(together, counter, "c", 2)]
    assert await asyncio.gather(*quick) == ["b1", "c2"]
    later = asking(together, counter, "a", 3)
    assert await asking(together, counter, "b", 4) == "b4"
    assert not slow.done() and not later.done()
    counter.blocked = set()
    assert [await slow, await later] == ["a0", "a3"]


async def test_a_repetition_goes_by_itself(counter: Counter) -> None:
    """The same request twice at once: the second does not stand in line behind the first."""
    together: Together[Ask, str] = Together()
    first = asking(together, counter, "a", 0)
    await asyncio.sleep(0.01)
    assert await asking(together, counter, "a", 0) == "a0"
    assert counter.batches == [([0], False), ([0], True)]
    counter.go.set()
    assert await first == "a0"
    assert await asking(together, counter, "a", 0) == "a0"
    assert counter.batches[-1] == ([0], False)


async def test_a_failure_reaches_everyone_in_the_batch_and_nobody_after(counter: Counter) -> None:
    """The next batch is served as if nothing had been."""
    together: Together[Ask, str] = Together()
    counter.problem = RuntimeError("no")
    counter.go.set()
    asks = [asking(together, counter, "a", mark) for mark in range(2)]
    assert [str(problem) for problem in await asyncio.gather(*asks, return_exceptions=True)] == ["no", "no"]
    counter.problem = None
    assert await asking(together, counter, "a", 0) == "a0"


async def test_who_has_gone_is_not_served(counter: Counter) -> None:
    """A cancelled ask that still stands in line is passed over."""
    together: Together[Ask, str] = Together(at_once=1)
    first, gone = asking(together, counter, "a", 0), asking(together, counter, "b", 1)
    await asyncio.sleep(0)
    gone.cancel()
    last = asking(together, counter, "b", 2)
    await asyncio.sleep(0)
    counter.go.set()
    await asyncio.gather(first, last)
    assert 1 not in [mark for marks, _ in counter.batches for mark in marks]


async def test_a_line_that_comes_free_is_served_though_a_batch_of_others_hangs(counter: Counter) -> None:
    """Who stood behind a blocked ask needs nobody else to come before a second worker does."""
    together: Together[Ask, str] = Together(at_once=2)
    counter.blocked = {"a"}
    counter.go.set()
    slow = asking(together, counter, "a", 0)
    await until(lambda: ([0], True) in counter.batches)
    counter.go.clear()
    hanging = asking(together, counter, "b", 1)
    behind = asking(together, counter, "a", 2)
    await asyncio.sleep(HELP_AFTER * 2)
    counter.blocked = set()
    assert await slow == "a0"
    await until(lambda: ([2], False) in counter.batches)
    counter.go.set()
    assert [await hanging, await behind] == ["b1", "a2"]


async def test_nobody_stands_in_line_for_ever(counter: Counter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited too long is told that nothing was done, also while the batch before still hangs."""
    monkeypatch.setattr("services.bookings.actions.batching.PATIENCE", 0.02)
    together: Together[Ask, str] = Together(at_once=1)
    first = asking(together, counter, "a", 0)
    await asyncio.sleep(0.01)
    late = [asking(together, counter, line, mark) for mark, line in enumerate("ab", 1)]
    async with asyncio.timeout(5):
        refused = await asyncio.gather(*late, return_exceptions=True)
    assert [type(problem) for problem in refused] == [Unavailable, Unavailable]
    counter.go.set()
    assert await first == "a0"
    assert await asking(together, counter, "b", 3) == "b3"
    assert counter.batches == [([0], False), ([3], False)]


async def until(fact: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not fact():
            await asyncio.sleep(0.01)
