"""With a broker user per service, each may do its own work and nothing of the others'."""

from collections.abc import Awaitable, Callable
from functools import partial

import aio_pika
import pytest
from aio_pika import ExchangeType
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import ChannelPreconditionFailed
from aiormq.exceptions import ChannelAccessRefused

from shared.events.bus import EVENT_LOG, NEW_MEMBERS, BusError
from shared.events.bus.rabbit import RabbitBus
from shared.events.bus.topology import PERMISSIONS
from shared.settings import SERVICES
from shared.wire import new_id
from tests.harness.broker_users import broker_urls
from tests.harness.eventually import until
from tests.harness.servers import Rabbit
from tests.shared.events.bus.notebook import Notebook, Sender, at_once

Act = Callable[[AbstractChannel, str], Awaitable[None]]

LOG_QUEUES = {f"webhooks.events.{number}" for number in range(16)}
QUEUES = LOG_QUEUES | {"forms.new-members"}
REPLY_QUEUES = {f"{service}.replies.0" for service in PERMISSIONS}
EXCHANGES = {"studio.event-log", "studio.event-log.replies", "studio.forms", "studio.forms.replies"}
# Written out, not computed: what each service needs. Everything else must be refused.
PUBLISHES = {
    "catalog": {"studio.event-log"},
    "bookings": {"studio.event-log"},
    "forms": {"studio.event-log", "studio.forms.replies"},
    "webhooks": {"studio.forms", "studio.event-log.replies"},
}
READS = {
    "catalog": {"catalog.replies.0"},
    "bookings": {"bookings.replies.0"},
    "forms": {"forms.replies.0", "forms.new-members"},
    "webhooks": LOG_QUEUES | {"webhooks.replies.0"},
}
DECLARES = {
    "catalog": {"catalog.replies.0"},
    "bookings": {"bookings.replies.0"},
    "forms": {"forms.replies.0"},
    "webhooks": QUEUES | EXCHANGES | {"webhooks.replies.0"},
}
# From which exchanges it may let messages into its own queue of replies. The event log's service declares the
# bindings of all queues, so it may read from their exchanges.
BINDS = {
    "catalog": {"studio.event-log.replies"},
    "bookings": {"studio.event-log.replies"},
    "forms": {"studio.event-log.replies"},
    "webhooks": {"studio.forms.replies", "studio.event-log", "studio.forms"},
}


@pytest.fixture
async def urls(rabbit: Rabbit, amqp_url: str) -> dict[str, str]:
    """Of a broker on which everything exists, and a queue of replies of each service."""
    found = broker_urls(rabbit, amqp_url)
    link = await RabbitBus(found["webhooks"], "webhooks").link(NEW_MEMBERS, "webhooks", lambda reply: None)
    await link.close()
    async with await aio_pika.connect(amqp_url) as connection:
        channel = await connection.channel()
        for name in REPLY_QUEUES:
            await channel.declare_queue(name, durable=True)
    return found


async def _allowed(connection: AbstractConnection, names: set[str], act: Act) -> set[str]:
    return {name for name in names if not await _refused(connection, name, act)}


async def _refused(connection: AbstractConnection, name: str, act: Act) -> bool:
    """On its own channel, which the broker closes when it refuses."""
    channel = await connection.channel(publisher_confirms=True)
    try:
        await act(channel, name)
    except ChannelAccessRefused:
        return True
    except ChannelPreconditionFailed:
        return False
    await channel.close()
    return False


async def _publish(channel: AbstractChannel, exchange: str) -> None:
    target = channel.default_exchange
    if exchange != "amq.default":
        target = await channel.get_exchange(exchange, ensure=False)
    await target.publish(aio_pika.Message(b"x"), routing_key="nowhere", mandatory=False)


async def _read(channel: AbstractChannel, queue: str) -> None:
    await (await channel.get_queue(queue, ensure=False)).consume(_leave)


async def _leave(message: AbstractIncomingMessage) -> None:
    """It goes back to its queue when the channel closes."""


async def _declare(channel: AbstractChannel, name: str) -> None:
    """With different arguments: only a user who may declare it gets that error."""
    if name in EXCHANGES:
        await channel.declare_exchange(name, ExchangeType.FANOUT, durable=True)
    else:
        await channel.declare_queue(name, durable=True, arguments={"x-max-length": 1})


async def _delete(channel: AbstractChannel, name: str) -> None:
    await (channel.exchange_delete(name) if name in EXCHANGES else channel.queue_delete(name))


async def _bind(service: str, channel: AbstractChannel, exchange: str) -> None:
    queue = await channel.get_queue(f"{service}.replies.0", ensure=False)
    await queue.bind(exchange, routing_key="webhooks.events.0")


def test_every_service_that_uses_the_broker_has_a_user() -> None:
    """The gateway has none: it publishes and consumes nothing."""
    assert set(PERMISSIONS) == set(SERVICES) - {"gateway"} == set(PUBLISHES)


async def test_a_user_is_refused_everything_that_is_not_its_own(urls: dict[str, str]) -> None:
    """Publishing to, listening to, declaring and deleting every exchange and queue, on a real broker."""
    queues = QUEUES | REPLY_QUEUES
    for service, url in urls.items():
        everything = queues | EXCHANGES
        async with await aio_pika.connect(url) as connection:
            published = await _allowed(connection, EXCHANGES | {"amq.default"}, _publish)
            bound = await _allowed(connection, EXCHANGES, partial(_bind, service))
            read = await _allowed(connection, queues, _read)
            declared = await _allowed(connection, everything, _declare)
            deleted = await _allowed(connection, everything - DECLARES[service], _delete)
        assert (published, bound) == (PUBLISHES[service], BINDS[service]), service
        assert (read, declared, deleted) == (READS[service], DECLARES[service], set()), service


async def test_a_producer_waits_for_whoever_declares_the_queues(rabbit: Rabbit, amqp_url: str) -> None:
    """On an empty broker it says what is missing, and sends once the event log has declared it."""
    found = broker_urls(rabbit, amqp_url)
    bus = RabbitBus(found["bookings"], "bookings")
    with pytest.raises(BusError, match="does not exist yet"):
        await bus.link(EVENT_LOG, "bookings", lambda reply: None)
    log, notebook = RabbitBus(found["webhooks"], "webhooks"), Notebook()
    await log.subscribe(EVENT_LOG, notebook, ready=at_once)
    log.assign(EVENT_LOG, EVENT_LOG.all_partitions)
    producer = Sender(bus)
    await producer.send("one")
    await until(lambda: bool(producer.replies))
    if producer.replies[0].start_over:
        # The queue was declared, but not bound yet: a relay begins a new session, too.
        producer.session, producer.number = new_id(), 0
        await producer.send("one")
    await until(lambda: producer.stored == notebook.seen == ["one"])
    await Sender.links.pop().close()
    await log.close()
