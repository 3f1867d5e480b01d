"""A lane is released only if it has seen everything that is due, whatever changes while it loads."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from services.webhooks.dispatcher.lane import Lane
from services.webhooks.rules.circuit_breaker import Breaker
from services.webhooks.rules.days import EVER, Span
from services.webhooks.store.attempts import Due
from services.webhooks.store.lane_batches import Loaded, Release, Target, Wanted
from services.webhooks.store.lanes import Lease
from shared.wire import now


class Endpoint:
    """One endpoint in memory: what LOAD and RELEASE do for it, and what happens just before a load."""

    def __init__(self, *, rate_limit: float | None = None, fifo: bool = False) -> None:
        self.target = Target(1, 1, True, "https://partner.example", fifo, rate_limit, EVER, ())
        self.pending = ["d1", "d2", "d3", "d4", "d5"]
        self.released_with: list[str] | None = None
        self.drained: list[bool] = []
        self.before_load: Callable[[], None] = lambda: None
        self.loads, self.releases = Batch(self._load), Batch(self._release)

    def change(self) -> None:
        target = self.target
        self.target = msgspec.structs.replace(target, wakes=target.wakes + 1, changes=target.changes + 1)

    def add(self, delivery_id: str) -> None:
        self.pending.append(delivery_id)
        self.target = msgspec.structs.replace(self.target, wakes=self.target.wakes + 1)

    def _load(self, wanted: Wanted) -> Loaded:
        self.before_load()
        found = [id_ for id_ in self.pending if id_ not in wanted.held][: (wanted.limit + 1) // 2]
        return Loaded(self.target, [] if self.target.fifo else [due(id_) for id_ in found])

    def _release(self, release: Release) -> bool:
        if release.seen.wakes != self.target.wakes:
            return False
        self.drained.append(release.drained)
        if not release.breaker.is_paused(release.at):
            self.released_with = list(self.pending)
        return True


def due(id_: str) -> Due:
    return Due(id_, id_, 1, 0, 0, now(), b"{}")


class FifoLane(Lane):
    """Reads the deliveries of an endpoint in memory."""

    async def _in_order(self, span: Span) -> list[Due]:
        endpoint: Any = self.resources
        return [due(id_) for id_ in endpoint.pending]


class Batch:
    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self._answer = answer

    async def ask(self, request: Any) -> Any:
        return self._answer(request)


def lane_of(endpoint: Endpoint, breaker: Breaker | None = None) -> Any:
    resources: Any = endpoint
    return Lane(resources, Lease("endpoint", "studio", "token"), breaker or Breaker())


async def refill_until_settled(lane: Any) -> None:
    """As `run` does: refill, until something is held or the lane was released."""
    for _ in range(5):
        if await lane._refill() or lane._prefetch.ready:
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


async def test_a_breaker_that_closes_during_the_load_does_not_release_the_lane() -> None:
    """Nothing was loaded, because the lane was paused when the load began."""
    endpoint = Endpoint()
    lane = lane_of(endpoint, Breaker(paused_until=now().replace(year=2999)))

    def succeed() -> None:
        lane._in_flight.breaker = Breaker()

    endpoint.before_load = succeed
    await refill_until_settled(lane)
    assert endpoint.released_with is None
    assert lane._prefetch.ready


async def test_new_work_that_a_refill_only_counted_is_loaded_before_the_release() -> None:
    """A full lane reads `wakes` and loads nothing: a release with these would miss what they count."""
    endpoint = Endpoint(rate_limit=0.5)
    endpoint.pending = ["d1"]
    lane = lane_of(endpoint)
    await refill_until_settled(lane)
    lane._prefetch.exhausted = True
    endpoint.add("d2")
    await lane._refill()
    done = lane._prefetch.ready.popleft()
    lane._prefetch.held.discard(done.id)
    endpoint.pending.remove(done.id)
    await refill_until_settled(lane)
    assert endpoint.released_with is None
    assert [due.id for due in lane._prefetch.ready] == ["d2"]


async def test_new_work_of_a_fifo_lane_that_still_sends_is_loaded_before_the_release() -> None:
    """It loads nothing while it holds something, but reads the `wakes` that count the new delivery."""
    endpoint: Any = Endpoint(fifo=True)
    endpoint.pending = ["d1"]
    lane: Any = FifoLane(endpoint, Lease("endpoint", "studio", "token"), Breaker())
    await refill_until_settled(lane)
    sent = lane._prefetch.ready.popleft()
    endpoint.add("d2")
    await lane._refill()
    lane._prefetch.held.discard(sent.id)
    endpoint.pending.remove(sent.id)
    await refill_until_settled(lane)
    assert endpoint.released_with is None
    assert [found.id for found in lane._prefetch.ready] == ["d2"]


async def test_a_lane_with_nothing_due_is_released() -> None:
    """The control: all of it was seen."""
    endpoint = Endpoint()
    endpoint.pending = []
    await refill_until_settled(lane_of(endpoint))
    assert endpoint.released_with == []
    assert endpoint.drained == [True]


@pytest.mark.parametrize("why", ["disabled", "paused"])
async def test_a_lane_that_may_not_look_keeps_the_days_of_its_open_deliveries(why: str) -> None:
    """A lane that is released as drained forgets which days it has to look at."""
    endpoint = Endpoint()
    breaker = Breaker()
    if why == "disabled":
        endpoint.target = msgspec.structs.replace(endpoint.target, enabled=False)
    else:
        breaker = Breaker(paused_until=now().replace(year=2999))
    await refill_until_settled(lane_of(endpoint, breaker))
    assert endpoint.drained == [False]
