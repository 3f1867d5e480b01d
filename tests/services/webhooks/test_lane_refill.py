"""A lane is released only if it has seen everything that is due, whatever changes while it loads."""

from typing import Any

import msgspec
import pytest

from services.webhooks.dispatcher.lane import Lane
from services.webhooks.rules.retry import Breaker
from services.webhooks.store.attempts import Due, Loaded, Target, Wanted
from services.webhooks.store.lanes import Lease, Release
from shared.wire import now


class Endpoint:
    """One endpoint in memory: what LOAD and RELEASE do for it."""

    def __init__(self, *, rate_limit: float | None = None, fifo: bool = False) -> None:
        self.target = Target(1, 1, True, "https://partner.example", fifo, rate_limit, [])
        self.pending = ["d1", "d2", "d3", "d4", "d5"]
        self.released_with: list[str] | None = None
        self.loads = self.releases = self

    def change(self) -> None:
        target = self.target
        self.target = msgspec.structs.replace(target, wakes=target.wakes + 1, changes=target.changes + 1)

    def add(self, delivery_id: str) -> None:
        self.pending.append(delivery_id)
        self.target = msgspec.structs.replace(self.target, wakes=self.target.wakes + 1)

    async def submit(self, request: Wanted | Release) -> Loaded | bool:
        return self._load(request) if isinstance(request, Wanted) else self._release(request)

    def _load(self, wanted: Wanted) -> Loaded:
        found = [id_ for id_ in self.pending if id_ not in wanted.held][: (wanted.limit + 1) // 2]
        return Loaded(self.target, [] if self.target.fifo else [due(id_) for id_ in found])

    def _release(self, release: Release) -> bool:
        if release.wakes == self.target.wakes:
            self.released_with = list(self.pending)
        return False


def due(id_: str) -> Due:
    return Due(id_, id_, 1, 0, 0, now(), b"{}")


class MemoryLane(Lane):
    """Reads the deliveries of a `fifo` endpoint in memory."""

    async def _in_order(self) -> list[Due]:
        endpoint: Any = self.resources
        return [due(id_) for id_ in endpoint.pending]


def lane_of(endpoint: Any) -> Any:
    return MemoryLane(endpoint, Lease("endpoint", "studio", "token"), Breaker())


async def refill_until_settled(lane: Any) -> None:
    """As `run` does: load, until something is held or the lane was released."""
    for _ in range(5):
        if await lane._released() or not await lane._load() or lane._prefetch.ready:
            return


@pytest.mark.parametrize("rate_limit", [None, 0.5], ids=["half empty", "full, by its rate limit"])
async def test_a_change_during_a_refill_loses_no_delivery(rate_limit: float | None) -> None:
    """What was prefetched is stale and dropped. The load had left it out, so it is loaded again."""
    endpoint = Endpoint(rate_limit=rate_limit)
    lane = lane_of(endpoint)
    await refill_until_settled(lane)
    assert lane._prefetch.ready
    endpoint.change()
    await refill_until_settled(lane)
    assert endpoint.released_with is None
    assert lane._prefetch.ready


@pytest.mark.parametrize("fifo", [False, True], ids=["full, by its rate limit", "fifo, still sending"])
async def test_new_work_that_a_refill_only_counted_is_loaded_before_the_release(fifo: bool) -> None:
    """Such a lane reads `wakes` and loads nothing: a release with these would miss what they count."""
    endpoint = Endpoint(rate_limit=None if fifo else 0.5, fifo=fifo)
    endpoint.pending = ["d1"]
    lane = lane_of(endpoint)
    await refill_until_settled(lane)
    lane._prefetch.exhausted = True
    endpoint.add("d2")
    assert not await lane._released() and await lane._load()
    done = lane._prefetch.ready.popleft()
    lane._prefetch.held.discard(done.id)
    endpoint.pending.remove(done.id)
    await refill_until_settled(lane)
    assert endpoint.released_with is None
    assert [due.id for due in lane._prefetch.ready] == ["d2"]


async def test_a_lane_with_nothing_due_is_released() -> None:
    """The control: all of it was seen."""
    endpoint = Endpoint()
    endpoint.pending = []
    await refill_until_settled(lane_of(endpoint))
    assert endpoint.released_with == []
