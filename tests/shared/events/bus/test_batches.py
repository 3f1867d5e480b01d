"""Events that are published together share a message of the broker, and are still handled one by one."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import aio_pika
import pytest

from shared.events.bus import Acknowledgement, BusError, Message, Poison
from shared.events.bus.publish_batches import MOST_BYTES, MOST_EVENTS, BatchPublisher, Destination
from shared.events.bus.rabbit import RabbitBus
from tests.harness.eventually import eventually
from tests.shared.events.bus.queues import ALL, PARTITIONS, QUEUES, Notebook, message

HERE = ("exchange", "key")


@pytest.fixture
async def bus(amqp_url: str) -> AsyncIterator[RabbitBus]:
    made = await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    yield made
    await made.close()


async def publish_at_once(bus: RabbitBus, numbers: range, source: str = "") -> None:
    await asyncio.gather(*(bus.publish(message(n, source=source), ALL) for n in numbers))


async def test_events_published_together_are_one_message_of_the_broker(bus: RabbitBus) -> None:
    """One for every 32 events. They arrive in their order, with everything that was sent with them."""
    await publish_at_once(bus, range(MOST_EVENTS * 2))
    await bus.publish(message(64), ALL)
    assert (await bus.depth(ALL)).waiting == 3

    received: list[Message] = []
    notebook = Notebook()

    async def handle(messages: Sequence[Message]) -> None:
        received.extend(messages)
        notebook.note(messages)

    await bus.subscribe(ALL, handle, batch=10)
    await notebook.until(lambda seen: len(seen) == 65)
    assert received == [message(n) for n in range(65)]
    assert max(notebook.batches) <= 10


async def test_one_bad_event_of_a_batch_is_parked_alone(bus: RabbitBus) -> None:
    """The others of its batch are handled, and the producer learns the outcome of each."""
    outcome: dict[str, bool] = {}

    async def settle(acknowledgements: Sequence[Acknowledgement]) -> None:
        outcome.update({one.reference: one.parked for one in acknowledgements})

    async def handle(messages: Sequence[Message]) -> None:
        if any(one.id == "m2" for one in messages):
            raise Poison("planted")

    async def complete() -> bool:
        return len(outcome) == 5

    await bus.on_acknowledged("one", settle)
    await publish_at_once(bus, range(5), source="one")
    await bus.subscribe(ALL, handle, batch=10)
    await eventually(complete)
    assert outcome == {"r0": False, "r1": False, "r2": True, "r3": False, "r4": False}
    assert [parked.id for parked in await bus.parked(ALL, 10)] == ["m2"]


async def test_a_batch_that_the_broker_parked_is_listed_and_requeued_event_by_event(
    bus: RabbitBus, amqp_url: str
) -> None:
    """An operator names events, not batches: those that were not named stay parked, with their reason."""
    await publish_at_once(bus, range(3))
    connection = await aio_pika.connect(amqp_url)
    channel = await connection.channel()

    async def reject(taken: aio_pika.abc.AbstractIncomingMessage) -> None:
        await taken.reject(requeue=True)

    await (await channel.get_queue(ALL.name)).consume(reject)
    parked = await eventually(lambda: bus.parked(ALL, 5))
    await connection.close()
    assert [one.id for one in parked] == ["m0", "m1", "m2"]
    assert [one.id for one in await bus.parked(ALL, 2)] == ["m0", "m1"]

    assert await bus.requeue(ALL, frozenset({"m1"})) == 1
    left = await bus.parked(ALL, 5)
    assert [one.id for one in left] == ["m0", "m2"]
    assert all("delivery_limit" in one.reason for one in left)
    notebook = Notebook()
    await bus.subscribe(ALL, notebook)
    await notebook.until(lambda seen: seen == ["m1"])


async def test_a_batch_that_cannot_be_read_is_parked_whole(bus: RabbitBus, amqp_url: str) -> None:
    connection = await aio_pika.connect(amqp_url)
    channel = await connection.channel()
    broken = aio_pika.Message(b"\x00", content_type="application/msgpack", message_id="broken")
    await channel.default_exchange.publish(broken, routing_key=ALL.name)
    await connection.close()

    async def handle(messages: Sequence[Message]) -> None:
        raise Poison("not an event")

    await bus.subscribe(ALL, handle)
    parked = await eventually(lambda: bus.parked(ALL, 5))
    assert [(one.id, one.body) for one in parked] == [("broken", b"\x00")]


class Sent:
    """Stands in for the broker, where the test needs to see or to stop what is sent."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.failure: Exception | None = None
        self.confirm = asyncio.Event()
        self.confirm.set()

    async def __call__(self, destination: Destination, messages: Sequence[Message]) -> None:
        self.batches.append([one.id for one in messages])
        await self.confirm.wait()
        if self.failure:
            raise self.failure


async def test_large_events_do_not_share_a_message() -> None:
    """A batch stays small enough for a consumer that has prefetched many of them."""
    sent = Sent()
    publisher = BatchPublisher(sent)
    large = [Message(f"m{n}", "form.updated", b"x" * (MOST_BYTES // 2 + 1)) for n in range(3)]
    small = [message(n) for n in range(3, 6)]
    await asyncio.gather(*(publisher.publish(HERE, one) for one in large + small))
    assert sent.batches == [["m0"], ["m1"], ["m2", "m3", "m4", "m5"]]


async def test_every_publisher_of_a_batch_learns_that_it_failed() -> None:
    sent = Sent()
    sent.failure = BusError("planted")
    publisher = BatchPublisher(sent)
    publishing = (publisher.publish(HERE, message(n)) for n in range(3))
    results = await asyncio.gather(*publishing, return_exceptions=True)
    assert results == [sent.failure] * 3


async def test_a_closed_bus_leaves_no_publisher_waiting() -> None:
    """Neither one whose batch was sent and not confirmed, nor one whose batch was not sent yet."""
    sent = Sent()
    sent.confirm.clear()
    publisher = BatchPublisher(sent)
    first = asyncio.create_task(publisher.publish(HERE, message(1)))
    async with asyncio.timeout(30):
        while not sent.batches:
            await asyncio.sleep(0)
        second = asyncio.create_task(publisher.publish(HERE, message(2)))
        await asyncio.sleep(0)
        await publisher.close()
        for waiting in (first, second):
            with pytest.raises(BusError):
                await waiting
