"""A queue that cannot be consumed does not affect the other queues of its consumer."""

import asyncio
from collections.abc import Sequence

import aio_pika
import pytest

from shared.events.bus import Message
from shared.events.bus.broker import wrap
from shared.events.bus.rabbit import RabbitBus
from shared.servers.rabbitmq import PrivateRabbit
from tests.harness.eventually import until
from tests.harness.servers import Rabbit
from tests.shared.events.bus.queues import LOG, PARTITIONS, QUEUES, Notebook, message

BROKEN = LOG.partition(2)


async def publish(amqp_url: str, messages: Sequence[Message]) -> None:
    """By the default exchange, since a bus would first declare all queues."""
    async with await aio_pika.connect(amqp_url) as connection:
        channel = await connection.channel(on_return_raises=True)
        for one in messages:
            await channel.default_exchange.publish(wrap(one), LOG.partition(one.bucket), mandatory=True)


async def test_partitions_are_consumed_while_one_queue_is_refused(amqp_url: str) -> None:
    """Readiness names the queue. Once it can be declared, it is consumed on the same connection."""
    async with await aio_pika.connect(amqp_url) as connection:
        channel = await connection.channel()
        await channel.declare_queue(BROKEN, durable=True, arguments={"x-queue-type": "classic"})
    bus = RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS)
    notebook = Notebook()
    await bus.subscribe(LOG, notebook, batch=3)
    bus.assign(LOG, frozenset(range(PARTITIONS)))
    await until(lambda: f"delete_queue {BROKEN}" in str(bus.problem()))
    await until(lambda: len(subscribed(bus)) == PARTITIONS - 1)
    connection_used = bus._consumers[LOG.name]._connection
    await publish(amqp_url, [message(n, bucket=n) for n in (0, 1, 3)])
    await notebook.until(lambda seen: sorted(seen) == ["m0", "m1", "m3"])
    assert BROKEN in str(bus.problem()) and bus.lost_seconds(LOG) == 0
    async with await aio_pika.connect(amqp_url) as connection:
        await (await connection.channel()).queue_delete(BROKEN)
    await until(lambda: bus.problem() is None and BROKEN in subscribed(bus))
    await publish(amqp_url, [message(n, bucket=2) for n in (4, 5)])
    await notebook.until(lambda seen: seen[3:] == ["m4", "m5"])
    assert bus._consumers[LOG.name]._connection is connection_used, "prefetched messages were not returned"
    await bus.close()


async def test_partitions_are_consumed_while_one_queue_hangs(rabbit: Rabbit, amqp_url: str) -> None:
    """A quorum queue without a majority does not answer. Staged by suspending its process."""
    if not isinstance(rabbit, PrivateRabbit):
        pytest.skip("needs a broker whose processes may be suspended")
    bus = await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    process = f"whereis('{amqp_url.rpartition('/')[2]}_{BROKEN}')"
    await asyncio.to_thread(rabbit.control, "eval", f"ok = sys:suspend({process}).")
    try:
        notebook = Notebook()
        await bus.subscribe(LOG, notebook, batch=3)
        bus.assign(LOG, frozenset(range(PARTITIONS)))
        await publish(amqp_url, [message(n, bucket=n) for n in (0, 1, 3)])
        await notebook.until(lambda seen: sorted(seen) == ["m0", "m1", "m3"])
        await until(lambda: BROKEN in str(bus.problem()))
        connection_used = bus._consumers[LOG.name]._connection
        assert bus.lost_seconds(LOG) == 0
    finally:
        await asyncio.to_thread(rabbit.control, "eval", f"ok = sys:resume({process}).")
    await until(lambda: bus.problem() is None and BROKEN in subscribed(bus))
    await publish(amqp_url, [message(4, bucket=2)])
    await notebook.until(lambda seen: seen[3:] == ["m4"])
    assert bus._consumers[LOG.name]._connection is connection_used
    await bus.close()


def subscribed(bus: RabbitBus) -> set[str]:
    return set(bus._consumers[LOG.name]._inbox.subscriptions)
