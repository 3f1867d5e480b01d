"""The pipeline from an outbox over RabbitMQ to a handler, under faults of the broker."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import aio_pika
import msgspec
import pytest
from aio_pika.abc import AbstractChannel

from shared.background import Wakeup, running
from shared.db.database import Database
from shared.events.bus import EVENT_LOG, NEW_MEMBERS, rabbit_consumer
from shared.events.bus.broker import Misconfigured, declare_all, refuse_old_broker
from shared.events.bus.rabbit import RabbitBus
from shared.events.relay import Relay
from shared.wire import new_id
from tests.harness.eventually import until
from tests.shared.events.bus.notebook import Notebook, at_once
from tests.shared.events.staged_bus import Log, event, until_empty, write

Fault = Callable[[AbstractChannel], Coroutine[Any, Any, None]]


@pytest.fixture(autouse=True)
def _watch_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Consumers look every five seconds whether the broker still knows them."""
    monkeypatch.setattr(rabbit_consumer, "WATCH_SECONDS", 1.5)


@asynccontextmanager
async def pipeline(db: Database, amqp_url: str) -> AsyncIterator[tuple[Log, Wakeup]]:
    """A relay and a consumer as two processes have them, each with its own bus."""
    log, wakeup = Log(), Wakeup()
    consumer, producer = RabbitBus(amqp_url, "webhooks"), RabbitBus(amqp_url, "bookings")
    await consumer.subscribe(EVENT_LOG, log, ready=at_once)
    consumer.assign(EVENT_LOG, EVENT_LOG.all_partitions)
    relay = Relay(db, producer, wakeup, service="bookings", reply_seconds=2.0)
    try:
        async with running(relay.loops):
            yield log, wakeup
    finally:
        await relay.stop()
        await consumer.close()
        await producer.close()


async def _delete_queues(channel: AbstractChannel) -> None:
    for number in EVENT_LOG.all_partitions:
        await channel.queue_delete(EVENT_LOG.partition(number))


async def _delete_exchanges(channel: AbstractChannel) -> None:
    await channel.exchange_delete(EVENT_LOG.exchange)
    await channel.exchange_delete(EVENT_LOG.replies)


async def _delete_replies(channel: AbstractChannel) -> None:
    """The exchange of the replies alone: it is declared again, but senders' queues are not bound to it."""
    await channel.exchange_delete(EVENT_LOG.replies)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("fault", [_delete_queues, _delete_exchanges, _delete_replies])
async def test_nothing_is_lost_or_reordered(amqp_url: str, db: Database, fault: Fault) -> None:
    """Events of many resources and studios are written before, during and after the fault.

    `tests/chaos/test_short_form.py` kills the broker itself.
    """
    resources = [(new_id(), new_id()) for _ in range(40)]
    written = 0

    async def write_on(until_then: "asyncio.Task[None] | None" = None, rounds: int = 15) -> None:
        nonlocal written
        while rounds > 0 or (until_then is not None and not until_then.done()):
            rounds -= 1
            written += 1
            await write(db, [event(id_, written, studio) for id_, studio in resources])
            wakeup.notify()
            await asyncio.sleep(0.02)

    async with pipeline(db, amqp_url) as (log, wakeup), await aio_pika.connect(amqp_url) as connection:
        await write_on()
        await until(lambda: len(log.versions) == len(resources))
        await write_on(asyncio.create_task(fault(await connection.channel())))
        await write_on()
        await until_empty(db)
    for id_, _ in resources:
        assert log.versions[id_] == list(range(1, written + 1))


@pytest.mark.timeout(120)
async def test_a_queue_that_only_its_sender_declares_comes_back(amqp_url: str, db: Database) -> None:
    """That of another service, which may not declare it: the event log's service forwards to it."""
    log, wakeup = Log(), Wakeup()
    sending, receiving = RabbitBus(amqp_url, "webhooks"), RabbitBus(amqp_url, "forms")
    relay = Relay(db, sending, wakeup, service="webhooks", queue=NEW_MEMBERS, reply_seconds=2.0)
    resource, studio = new_id(), new_id()
    try:
        async with running(relay.loops):
            await write(db, [event(resource, 1, studio)])
            wakeup.notify()
            await receiving.subscribe(NEW_MEMBERS, log, ready=at_once)
            receiving.assign(NEW_MEMBERS, NEW_MEMBERS.all_partitions)
            await until_empty(db)
            async with await aio_pika.connect(amqp_url) as connection:
                await (await connection.channel()).queue_delete(NEW_MEMBERS.partition(0))
            await write(db, [event(resource, 2, studio)])
            wakeup.notify()
            await until_empty(db)
    finally:
        await relay.stop()
        await receiving.close()
        await sending.close()
    assert log.versions[resource] == [1, 2]


async def test_a_connection_that_is_given_up_does_not_end_its_consumer(
    amqp_url: str, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """aiormq cancels whoever waits for a reply on it. A machine that came back never consumed again."""
    given_up = list[Any]()

    async def while_closing(channel: AbstractChannel) -> None:
        if not given_up:
            underlay: Any = await channel.get_underlay_channel()
            given_up.append(asyncio.create_task(underlay.connection.close()))
        await declare_all(channel)

    monkeypatch.setattr(rabbit_consumer, "declare_all", while_closing)
    async with pipeline(db, amqp_url) as (log, wakeup):
        written = [event(new_id(), 1, new_id()) for _ in range(40)]
        await write(db, written)
        wakeup.notify()
        await until_empty(db)
    assert given_up
    assert len(log.versions) == len(written)


async def test_partitions_move_between_replicas(amqp_url: str, db: Database) -> None:
    """Each replica consumes its own partitions. A session that the new one does not know starts over."""
    first, second = Log(), Log()
    buses = [RabbitBus(amqp_url, "webhooks") for _ in range(2)]
    await buses[0].subscribe(EVENT_LOG, first, ready=at_once)
    await buses[1].subscribe(EVENT_LOG, second, ready=at_once)
    buses[0].assign(EVENT_LOG, EVENT_LOG.all_partitions)
    relay = Relay(db, RabbitBus(amqp_url, "bookings"), Wakeup(), service="bookings")
    resources = [(new_id(), new_id()) for _ in range(60)]
    async with running(relay.loops):
        await write(db, [event(id_, 1, studio) for id_, studio in resources])
        await until(lambda: len(first.versions) == len(resources))
        buses[0].assign(EVENT_LOG, frozenset(range(8)))
        buses[1].assign(EVENT_LOG, frozenset(range(8, 16)))
        await write(db, [event(id_, 2, studio) for id_, studio in resources])
        await until_empty(db)
    stored = {id_: first.versions[id_] + second.versions[id_] for id_, _ in resources}
    assert all(sorted(set(versions)) == [1, 2] for versions in stored.values())
    assert any(2 in versions for versions in second.versions.values())
    await relay.stop()
    for bus in buses:
        await bus.close()


async def test_a_queue_with_other_arguments_is_named(amqp_url: str) -> None:
    """Readiness says which one, and what to do."""
    name = EVENT_LOG.partition(0)
    async with await aio_pika.connect(amqp_url) as connection:
        channel = await connection.channel()
        await channel.declare_queue(name, durable=True, arguments={"x-queue-type": "classic"})
    bus = RabbitBus(amqp_url, "webhooks")
    await bus.subscribe(EVENT_LOG, Notebook(), ready=at_once)
    await until(lambda: f"delete_queue {name}" in str(bus.problem()))
    with pytest.raises(Misconfigured):
        await bus.link(EVENT_LOG, "webhooks", lambda reply: None)
    await bus.close()


async def test_a_broker_that_is_too_old_is_refused(amqp_url: str) -> None:
    """RabbitMQ sends its version in the handshake; the error names both versions."""
    connection = await aio_pika.connect(amqp_url)
    async with connection, connection.channel() as channel:
        await refuse_old_broker(channel)
        with pytest.raises(Misconfigured, match=r"^RabbitMQ \d+\.\d+\.\d+ is too old: 99\.0 or newer"):
            await refuse_old_broker(channel, (99, 0))


async def test_what_is_no_batch_is_dropped(amqp_url: str) -> None:
    """Somebody else's message must not stop the consumer. Ours are still in their outbox."""
    bus = RabbitBus(amqp_url, "webhooks")
    notebook = Notebook()
    await bus.subscribe(EVENT_LOG, notebook, ready=at_once)
    bus.assign(EVENT_LOG, EVENT_LOG.all_partitions)
    await until(lambda: bus.problem() is None)
    async with await aio_pika.connect(amqp_url) as connection:
        channel = await connection.channel()
        exchange = await channel.get_exchange(EVENT_LOG.exchange)
        for body in (b"", b"{}", msgspec.msgpack.encode([1, 2])):
            await exchange.publish(aio_pika.Message(body), routing_key=EVENT_LOG.partition(3))
    async with asyncio.timeout(60):
        while await bus.depth(EVENT_LOG):
            await asyncio.sleep(0.05)
    assert notebook.seen == []
    await bus.close()
