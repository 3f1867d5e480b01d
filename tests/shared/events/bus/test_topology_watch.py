"""What is deleted from the broker is made again, also where producers may not declare anything."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import count

import aio_pika
import pytest
from aio_pika.abc import AbstractChannel
from msgspec import Struct

from shared.events.bus import EVENT_LOG, NEW_MEMBERS, Acknowledgement, BusError, Message, Poison
from shared.events.bus import topology_watch as topology_watch_module
from shared.events.bus.broker import queue_exists
from shared.events.bus.rabbit import RabbitBus
from shared.events.bus.topology import PARKED, acknowledgements_of
from tests.harness.broker_users import broker_urls
from tests.harness.eventually import eventually, until
from tests.harness.servers import Rabbit
from tests.shared.events.bus.queues import Notebook, message

PARTITIONS = 2


class Services(Struct):
    """Each has its own broker user. `acknowledged`: what the event log's service got back from forms."""

    log: RabbitBus
    producer: RabbitBus
    forms: RabbitBus
    logged: Notebook
    acknowledged: list[Acknowledgement]


@pytest.fixture
async def services(rabbit: Rabbit, amqp_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Services]:
    monkeypatch.setattr(topology_watch_module, "WATCH_SECONDS", 1.0)
    urls = broker_urls(rabbit, amqp_url)
    log, producer, forms = [
        await RabbitBus(urls[service], partitions=PARTITIONS, service=service).connect()
        for service in ("webhooks", "bookings", "forms")
    ]
    made = Services(log, producer, forms, Notebook(), [])

    async def settle(acknowledgements: Sequence[Acknowledgement]) -> None:
        made.acknowledged.extend(acknowledgements)

    async def convert(messages: Sequence[Message]) -> None:
        raise Poison("not a member")

    await log.on_acknowledged("webhooks", settle)
    await log.subscribe(EVENT_LOG, made.logged)
    log.assign(EVENT_LOG, frozenset(range(PARTITIONS)))
    await forms.subscribe(NEW_MEMBERS, convert)
    yield made
    for bus in (producer, forms, log):
        await bus.close()


@asynccontextmanager
async def administrating(amqp_url: str) -> AsyncIterator[AbstractChannel]:
    async with await aio_pika.connect(amqp_url) as connection, connection.channel() as channel:
        yield channel


async def published(bus: RabbitBus, wanted: Message) -> bool:
    try:
        await bus.publish(wanted)
    except BusError:
        return False
    return True


async def test_events_go_on_after_their_exchange_or_a_binding_is_deleted(
    services: Services, amqp_url: str
) -> None:
    """The producer may not declare them, and the event log's service never publishes to them."""
    async with administrating(amqp_url) as channel:
        # Another replica has the first partition, and this one does not interfere.
        services.log.assign(EVENT_LOG, frozenset({1}))
        await channel.exchange_delete(EVENT_LOG.exchange)
        assert not await published(services.producer, message(0)), "control: it is gone"
        services.log.assign(EVENT_LOG, frozenset(range(PARTITIONS)))
        await eventually(lambda: published(services.producer, message(1)))
        await eventually(lambda: published(services.producer, message(2, bucket=1)))
        queue = await channel.get_queue(EVENT_LOG.partition(1), ensure=False)
        await queue.unbind(EVENT_LOG.exchange, routing_key=EVENT_LOG.partition(1))
        await eventually(lambda: published(services.producer, message(3, bucket=1)))
    await services.logged.until(lambda seen: {"m1", "m2", "m3"} <= set(seen))


async def test_a_queue_that_nobody_leases_is_made_again(services: Services, amqp_url: str) -> None:
    """Its producers would wait until somebody leases it and notices."""
    async with await aio_pika.connect(amqp_url) as connection:
        services.log.assign(EVENT_LOG, frozenset({0}))
        await asyncio.sleep(
            1
        )  # a queue deleted while it starts would break the whole broker (rabbitmq-server 16652)
        async with connection.channel() as channel:
            await channel.queue_delete(EVENT_LOG.partition(1))
        await eventually(partial(queue_exists, connection, EVENT_LOG.partition(1)))
    await eventually(lambda: published(services.producer, message(1, bucket=1)))


async def test_another_group_can_park_and_acknowledge_again(services: Services, amqp_url: str) -> None:
    """Its own user may publish to these exchanges but not declare them."""
    numbers = count()
    async with administrating(amqp_url) as channel:
        await channel.exchange_delete(PARKED)
        await channel.exchange_delete(acknowledgements_of("webhooks").exchange)

    async def acknowledged() -> bool:
        forwarded = message(next(numbers), source="webhooks")
        await services.log.publish(forwarded, NEW_MEMBERS)
        return bool(services.acknowledged)

    await eventually(acknowledged)
    await until(lambda: services.acknowledged[0].parked)
    parked = await services.log.parked(NEW_MEMBERS, 1000)
    assert "not a member" in {one.reason for one in parked}
