"""With a broker user per service, each may do its own work and nothing of the others'."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import aio_pika
import pytest
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import ChannelPreconditionFailed
from aiormq.exceptions import ChannelAccessRefused

from shared.events.bus import EVENT_LOG, NEW_MEMBERS, Acknowledgement, BusError, Message, Poison
from shared.events.bus.acknowledgements import Settle
from shared.events.bus.broker import queue_exists
from shared.events.bus.permissions import PERMISSIONS
from shared.events.bus.rabbit import RabbitBus
from shared.settings import SERVICES
from tests.harness.broker_users import broker_urls
from tests.harness.eventually import eventually, until
from tests.harness.servers import Rabbit
from tests.shared.events.bus.queues import message

PARTITIONS = 2
SHARED_QUEUES = {
    "webhooks.events.0",
    "webhooks.events.1",
    "webhooks.events.parked",
    "forms.new-members",
    "forms.new-members.parked",
}
ACKNOWLEDGED = {f"{service}.acknowledgements" for service in PERMISSIONS}
EXCHANGES = {"amq.default", "studio.event-log", "studio.forms", "studio.parked", "webhooks.acknowledgements"}
# Written out, not computed: what each service needs. Everything else must be refused.
PUBLISHES = {
    "catalog": {"studio.event-log"},
    "bookings": {"studio.event-log"},
    "forms": {"studio.event-log", "studio.parked", "webhooks.acknowledgements"},
    "webhooks": {"amq.default", "studio.forms", "studio.parked", "webhooks.acknowledgements"},
}
READS = {
    "catalog": {"catalog.acknowledgements"},
    "bookings": {"bookings.acknowledgements"},
    "forms": {"forms.acknowledgements", "forms.new-members"},
    "webhooks": SHARED_QUEUES | {"webhooks.acknowledgements"},
}
DECLARES = READS | {"forms": {"forms.acknowledgements"}}


async def _ignore(acknowledgements: Sequence[Acknowledgement]) -> None:
    pass


def _keep_in(found: list[Acknowledgement]) -> Settle:
    async def settle(acknowledgements: Sequence[Acknowledgement]) -> None:
        found.extend(acknowledgements)

    return settle


@pytest.fixture
async def urls(rabbit: Rabbit, amqp_url: str) -> dict[str, str]:
    """Of a broker on which every service has been connected once, so that all queues exist."""
    found = broker_urls(rabbit, amqp_url)
    async with await aio_pika.connect(amqp_url) as connection:
        for service in ("webhooks", "catalog", "bookings", "forms"):
            bus = await RabbitBus(found[service], partitions=PARTITIONS, service=service).connect()
            await bus.on_acknowledged(service, _ignore)
            await eventually(partial(queue_exists, connection, f"{service}.acknowledgements"))
            await bus.close()
    return found


async def _refused(
    connection: AbstractConnection, act: Callable[[AbstractChannel], Awaitable[object]]
) -> bool:
    """On its own channel, which the broker closes when it refuses."""
    channel = await connection.channel(publisher_confirms=True)
    try:
        await act(channel)
    except ChannelAccessRefused:
        return True
    except ChannelPreconditionFailed:
        return False
    await channel.close()
    return False


def _publish(exchange: str) -> Callable[[AbstractChannel], Awaitable[object]]:
    async def act(channel: AbstractChannel) -> None:
        target = (
            channel.default_exchange
            if exchange == "amq.default"
            else await channel.get_exchange(exchange, ensure=False)
        )
        await target.publish(aio_pika.Message(b"x"), routing_key="nowhere", mandatory=False)

    return act


def _read(queue: str) -> Callable[[AbstractChannel], Awaitable[object]]:
    async def act(channel: AbstractChannel) -> None:
        found = await channel.get_queue(queue, ensure=False)
        await found.consume(_leave)

    return act


async def _leave(message: AbstractIncomingMessage) -> None:
    """It goes back to its queue when the channel closes."""


def _declare(queue: str) -> Callable[[AbstractChannel], Awaitable[object]]:
    """With different arguments: only a user who may declare the queue gets that error."""
    return lambda channel: channel.declare_queue(queue, durable=True, arguments={"x-queue-type": "classic"})


def _delete(queue: str) -> Callable[[AbstractChannel], Awaitable[object]]:
    return lambda channel: channel.queue_delete(queue)


def test_every_service_that_uses_the_broker_has_a_user() -> None:
    """The gateway has none: it publishes and consumes nothing."""
    assert set(PERMISSIONS) == set(SERVICES) - {"gateway"} == set(PUBLISHES)


async def test_a_user_is_refused_everything_that_is_not_its_own(urls: dict[str, str]) -> None:
    """Publishing to every exchange, reading, declaring and deleting every queue, on a real broker."""
    queues = SHARED_QUEUES | ACKNOWLEDGED
    for service, url in urls.items():
        foreign = queues - DECLARES[service]
        async with await aio_pika.connect(url) as connection:
            published = {name for name in EXCHANGES if not await _refused(connection, _publish(name))}
            read = {name for name in queues if not await _refused(connection, _read(name))}
            declared = {name for name in queues if not await _refused(connection, _declare(name))}
            deleted = {name for name in foreign if not await _refused(connection, _delete(name))}
        assert (published, read) == (PUBLISHES[service], READS[service]), service
        assert (declared, deleted) == (DECLARES[service], set()), service


async def test_the_whole_chain_works_with_separate_users(urls: dict[str, str]) -> None:
    """Published, logged, forwarded, acknowledged to the producer, parked by the group and requeued."""
    made = {
        service: await RabbitBus(urls[service], partitions=PARTITIONS, service=service).connect()
        for service in ("webhooks", "bookings", "forms")
    }
    acknowledged: dict[str, list[Acknowledgement]] = {"bookings": [], "webhooks": []}
    received: list[str] = []

    async def log(messages: Sequence[Message]) -> None:
        for one in messages:
            forwarded = Message(one.id, "member.created", one.body, source="webhooks", reference="r")
            await made["webhooks"].publish(forwarded, NEW_MEMBERS)

    async def join(messages: Sequence[Message]) -> None:
        if not received:
            received.append("poison")
            raise Poison("the first time")
        received.extend(one.id for one in messages)

    try:
        for service, found in acknowledged.items():
            await made[service].on_acknowledged(service, _keep_in(found))
        await made["forms"].subscribe(NEW_MEMBERS, join)
        await made["webhooks"].subscribe(EVENT_LOG, log)
        made["webhooks"].assign(EVENT_LOG, frozenset({0, 1}))
        await made["bookings"].publish(message(1, bucket=1, source="bookings"))
        await until(lambda: acknowledged["bookings"] == [Acknowledgement("r1", "m1")])

        async def parked() -> bool:
            return (await made["webhooks"].depth(NEW_MEMBERS)).parked == 1

        await eventually(parked)
        assert [one.id for one in await made["webhooks"].parked(NEW_MEMBERS, 10)] == ["m1"]
        assert await made["webhooks"].requeue(NEW_MEMBERS) == 1
        await until(lambda: "m1" in received and len(acknowledged["webhooks"]) == 2)
        assert [one.parked for one in acknowledged["webhooks"]] == [True, False]
        assert not made["bookings"].lists_parked(EVENT_LOG)
        assert (await made["bookings"].depth(EVENT_LOG)).parked == 0, "it may count them"
    finally:
        for bus in made.values():
            await bus.close()


async def test_a_producer_waits_for_the_service_that_declares_the_queues(
    rabbit: Rabbit, amqp_url: str
) -> None:
    """On an empty broker it reports what is missing, and publishes once the event log has declared it."""
    found = broker_urls(rabbit, amqp_url)
    producer = RabbitBus(found["bookings"], partitions=PARTITIONS, service="bookings")
    with pytest.raises(BusError, match="does not exist yet"):
        await producer.publish(message(1))
    log = await RabbitBus(found["webhooks"], partitions=PARTITIONS, service="webhooks").connect()

    async def published() -> bool:
        try:
            await producer.publish(message(1))
        except BusError:
            return False
        return True

    async def waiting() -> bool:
        return (await log.depth(EVENT_LOG)).waiting == 1

    await eventually(published)
    await eventually(waiting)
    await producer.close()
    await log.close()


async def test_the_old_single_queue_is_reached_through_the_event_logs_exchange(
    rabbit: Rabbit, amqp_url: str
) -> None:
    """A producer that could use the default exchange could write to every queue."""
    found = broker_urls(rabbit, amqp_url)
    async with await aio_pika.connect(amqp_url) as connection:
        channel = await connection.channel()
        old = await channel.declare_queue(EVENT_LOG.name, durable=True, arguments={"x-queue-type": "quorum"})
        log = await RabbitBus(found["webhooks"], partitions=PARTITIONS, service="webhooks").connect()
        producer = await RabbitBus(found["bookings"], partitions=PARTITIONS, service="bookings").connect()
        assert producer.has_old_queue
        await producer.publish(message(1), by_old_queue=True)
        taken = await old.get(fail=False)
        assert taken is not None and taken.message_id == "m1"
        await producer.close()
        await log.close()
