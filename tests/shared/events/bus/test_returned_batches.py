"""A replica that cannot handle its messages returns them, so that another one can."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import pytest

from shared.errors import Unavailable
from shared.events.bus import Message, Queue
from shared.events.bus import batch_return as batch_return_module
from shared.events.bus import declarations as declarations_module
from shared.events.bus.batch_return import KEPT_FOR_CRASHES, hold_seconds
from shared.events.bus.declarations import DELIVERY_LIMIT
from shared.events.bus.rabbit import RabbitBus
from tests.harness.eventually import until
from tests.shared.events.bus.queues import ALL, LOG, PARTITIONS, QUEUES, Notebook, message

COMPETING = Queue("test.competing", "test.competing", single_active=False, parks=False)
Connect = Callable[[], Awaitable[RabbitBus]]


@pytest.fixture
async def connect(amqp_url: str) -> AsyncIterator[Connect]:
    opened: list[RabbitBus] = []

    async def connected() -> RabbitBus:
        opened.append(await RabbitBus(amqp_url, (*QUEUES, COMPETING), partitions=PARTITIONS).connect())
        return opened[-1]

    yield connected
    for bus in opened:
        await bus.close()


class CutOff:
    """A replica without its database: the connection is refused, it hangs, or its rollback hangs as well."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.batches = 0

    async def __call__(self, messages: Sequence[Message]) -> None:
        self.batches += 1
        if self.kind == "refused":
            raise Unavailable
        try:
            await asyncio.Event().wait()
        finally:
            if self.kind == "hangs twice":
                await asyncio.Event().wait()


@pytest.mark.parametrize("kind", ["refused", "hangs", "hangs twice"])
async def test_a_replica_that_lost_its_leases_gives_up_its_partitions(connect: Connect, kind: str) -> None:
    """Even in the middle of a batch: its connection is healthy, so the broker would let it keep them."""
    sick, healthy = await connect(), await connect()
    cut_off, notebook = CutOff(kind), Notebook()
    await sick.subscribe(LOG, cut_off, batch=3)
    await healthy.subscribe(LOG, notebook, batch=3)
    sick.assign(LOG, frozenset(range(PARTITIONS)))
    for n in range(12):
        await healthy.publish(message(n, bucket=n), LOG)
    await until(lambda: cut_off.batches > 0)
    healthy.assign(LOG, frozenset(range(PARTITIONS)))
    sick.assign(LOG, frozenset())
    await notebook.until(lambda seen: len(set(seen)) == 12)
    for partition in range(PARTITIONS):
        wanted = [f"m{n}" for n in range(12) if n % PARTITIONS == partition]
        assert [one for one in notebook.seen if one in wanted] == wanted
    await until(lambda: sick.problem() is None)  # connected again, and its handler has ended
    attempts = cut_off.batches
    await healthy.publish(message(12), LOG)
    await notebook.until(lambda seen: "m12" in seen)
    assert cut_off.batches == attempts, "without leases it does not subscribe again"


@pytest.mark.parametrize("queue", [ALL, COMPETING], ids=["single active", "competing"])
@pytest.mark.parametrize("kind", ["refused", "hangs"])
async def test_another_replica_gets_what_one_cannot_handle(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, queue: Queue, kind: str
) -> None:
    """Queues without leases: a batch is returned when it was held for too long."""
    monkeypatch.setattr(batch_return_module, "FIRST_HOLD_SECONDS", 1.0)
    sick, healthy = await connect(), await connect()
    cut_off, notebook = CutOff(kind), Notebook()
    await sick.subscribe(queue, cut_off, batch=20)
    for n in range(12):
        await healthy.publish(message(n), queue)
    await until(lambda: cut_off.batches > 0)
    await healthy.subscribe(queue, notebook, batch=20)
    await notebook.until(lambda seen: len(set(seen)) == 12)
    assert (await sick.depth(ALL)).parked == 0


async def test_a_single_replica_parks_nothing_in_a_long_outage(
    amqp_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each return counts towards the broker's delivery limit: after some of them the batch is only held."""
    for name, value in {"DELIVERY_LIMIT": 8, "KEPT_FOR_CRASHES": 3, "LONGEST_HOLD_SECONDS": 0.05}.items():
        monkeypatch.setattr(batch_return_module, name, value)
    monkeypatch.setattr(batch_return_module, "RETURNED_PAUSE_SECONDS", 0.05)
    # The handler is called again after 0.1 s, so that there is one attempt for each delivery.
    monkeypatch.setattr(batch_return_module, "CHECK_SECONDS", 0.02)
    monkeypatch.setattr(declarations_module, "DELIVERY_LIMIT", 8)
    queue = Queue("test.outage", "test.outage")
    bus, notebook = await RabbitBus(amqp_url, (queue,)).connect(), Notebook()
    away, attempts = True, 0

    async def handle(messages: Sequence[Message]) -> None:
        nonlocal attempts
        attempts += 1
        if away:
            raise Unavailable
        notebook.note(messages)

    await bus.subscribe(queue, handle, batch=20)
    await bus.publish(message(1), queue)
    await until(lambda: attempts > 8)
    away = False
    await notebook.until(lambda seen: seen == ["m1"])
    assert (await bus.depth(queue)).parked == 0
    await bus.close()


def test_the_time_until_a_return_doubles_with_each_delivery() -> None:
    """Ten seconds at first, an hour at most, and no return when the delivery limit is close."""
    assert [hold_seconds(deliveries) for deliveries in (0, 1, 2, 8, 9)] == [10, 20, 40, 2560, 3600]
    assert hold_seconds(DELIVERY_LIMIT - KEPT_FOR_CRASHES - 1) == 3600
    assert hold_seconds(DELIVERY_LIMIT - KEPT_FOR_CRASHES) == float("inf")
