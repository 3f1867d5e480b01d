"""RabbitMQ under faults: restarted, killed, misconfigured, silent."""

import asyncio

import aio_pika
import pytest

from shared.events.bus import BusError, Message, Unroutable
from shared.events.bus.declarations import QueueMismatch
from shared.events.bus.rabbit import RabbitBus
from shared.servers.rabbitmq import PrivateRabbit
from tests.harness.eventually import eventually
from tests.harness.servers import Rabbit
from tests.shared.events.bus.queues import ALL, LOG, PARTITIONS, QUEUES, Notebook, message


async def publish_until_confirmed(bus: RabbitBus, wanted: Message) -> int:
    """Like the relay, retries until the confirm. Returns how many attempts failed."""
    failures = 0
    async with asyncio.timeout(60):
        while True:
            try:
                await bus.publish(wanted, ALL)
            except BusError:
                failures += 1
                await asyncio.sleep(0.1)
            else:
                return failures


async def healthy(bus: RabbitBus) -> bool:
    return bus.problem() is None


async def trouble(bus: RabbitBus) -> str:
    return bus.problem() or ""


@pytest.mark.parametrize("fault", ["restart", "kill"])
async def test_nothing_confirmed_is_lost_when_the_broker_goes_down(
    rabbit: Rabbit, amqp_url: str, fault: str
) -> None:
    """Confirmed messages survive a restart and a kill; the consumer reconnects and gets them all.

    While the broker is away, readiness names the consumer.
    """
    bus = await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    notebook = Notebook()
    await bus.subscribe(ALL, notebook, batch=20)
    assert await healthy(bus)
    failures: list[int] = []
    over = asyncio.Event()

    async def publish_all() -> int:
        """Twenty at a time, before, during and after the fault."""
        sent = 0
        while not over.is_set():
            chunk = [publish_until_confirmed(bus, message(n)) for n in range(sent, sent + 20)]
            failures.extend(await asyncio.gather(*chunk))
            sent += 20
        return sent

    publishing = asyncio.create_task(publish_all())
    await notebook.until(lambda seen: len(seen) >= 60)
    if fault == "kill":
        await asyncio.to_thread(rabbit.kill)
        assert "test.all" in await eventually(lambda: trouble(bus))
        await asyncio.to_thread(rabbit.start_again)
    else:
        await asyncio.to_thread(rabbit.restart)
    over.set()
    sent = await publishing
    await notebook.until(lambda seen: len(set(seen)) == sent, seconds=60)
    assert sum(failures) > 0, "the fault was not felt: the test proves nothing"
    await eventually(lambda: healthy(bus))
    await bus.close()


async def delete_queue(amqp_url: str, name: str) -> None:
    connection = await aio_pika.connect(amqp_url)
    channel = await connection.channel()
    await channel.queue_delete(name)
    await connection.close()


async def test_a_missing_queue_is_never_masked_by_another_one(amqp_url: str) -> None:
    """`mandatory` only reports that no queue took the message. With one queue per key that is enough."""
    bus = await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    connections = await bus.ensure_connected()
    await asyncio.sleep(
        1
    )  # a queue deleted while it starts would break the whole broker (rabbitmq-server 16652)
    await delete_queue(amqp_url, LOG.partition(2))
    await bus.publish(message(1, bucket=3), LOG)
    with pytest.raises(Unroutable, match=r"test\.log\.2"):
        await bus.publish(message(2, bucket=2), LOG)
    assert await bus.ensure_connected() != connections, (
        "what was in the queue may be lost: the relay is told so"
    )
    await bus.publish(message(2, bucket=2), LOG)
    assert (await bus.depth(LOG)).waiting == 2
    await bus.close()


async def test_partitions_move_between_replicas_and_keep_their_order(amqp_url: str) -> None:
    """Each replica consumes its partitions; messages that one left unhandled are handled by the next."""
    replicas = [await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect() for _ in range(2)]
    first, second = Notebook(), Notebook()
    await replicas[0].subscribe(LOG, first, batch=3)
    await replicas[1].subscribe(LOG, second, batch=3)
    replicas[0].assign(LOG, frozenset({0, 1, 2, 3}))
    for n in range(8):
        await replicas[0].publish(message(n, bucket=n), LOG)
    await first.until(lambda seen: len(seen) == 8)
    replicas[0].assign(LOG, frozenset({0, 2}))
    replicas[1].assign(LOG, frozenset({1, 3}))
    for n in range(8, 48):
        await replicas[0].publish(message(n, bucket=n), LOG)

    async def all_came() -> bool:
        return len(set(first.seen) | set(second.seen)) == 48

    await eventually(all_came)
    for partition in range(PARTITIONS):
        wanted = [f"m{n}" for n in range(48) if n % PARTITIONS == partition]
        assert [one for one in first.seen + second.seen if one in wanted] == wanted
    assert len(second.seen) >= 15, "control: the second one got its share"
    for bus in replicas:
        await bus.close()


async def test_a_queue_of_an_older_deployment_with_other_arguments_is_named(amqp_url: str) -> None:
    """PRECONDITION_FAILED becomes a message that names the queue and the remedy."""
    connection = await aio_pika.connect(amqp_url)
    channel = await connection.channel()
    await channel.declare_queue(ALL.name, durable=True, arguments={"x-queue-type": "classic"})
    await connection.close()
    with pytest.raises(QueueMismatch, match=r"'test\.all' exists.*delete_queue test\.all"):
        await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    bus = RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS)
    await bus.subscribe(ALL, Notebook())
    assert "delete_queue test.all" in str(bus.problem()), "readiness says so too"
    await bus.close()


async def test_a_consumer_that_the_broker_has_forgotten_comes_back(amqp_url: str) -> None:
    """The queue is deleted while the connection stays open: the watchdog declares it again."""
    bus = await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    notebook = Notebook()
    await bus.subscribe(ALL, notebook)
    await delete_queue(amqp_url, ALL.name)
    assert await publish_until_confirmed(bus, message(1)) >= 0
    await notebook.until(lambda seen: seen == ["m1"], seconds=30)
    await bus.close()


async def test_a_queue_that_refuses_for_long_is_tried_on_a_new_connection(
    rabbit: Rabbit, amqp_url: str
) -> None:
    """After a node was lost, a broker may refuse a queue's messages on an existing channel for ever."""
    if not isinstance(rabbit, PrivateRabbit):
        pytest.skip("needs a broker whose policies may be changed")
    bus = await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    first = await bus.ensure_connected()
    vhost = amqp_url.rpartition("/")[2] or "/"
    full = ("full", "^test\\.all$", '{"max-length": 1}')
    await asyncio.to_thread(rabbit.control, "set_policy", "-p", vhost, "--apply-to", "queues", *full)

    async def refused() -> bool:
        """The broker applies the policy later, and a quorum queue takes a few more than the limit."""
        try:
            await bus.publish(message(0), ALL)
        except BusError as problem:
            return "refused" in str(problem)
        return False

    await eventually(refused)

    async def connected_again() -> bool:
        await refused()
        return await bus.ensure_connected() > first

    await eventually(connected_again)
    await asyncio.to_thread(rabbit.control, "clear_policy", "-p", vhost, "full")
    await publish_until_confirmed(bus, message(1))
    await bus.close()


async def test_a_message_that_kills_its_consumer_every_time_ends_up_parked(amqp_url: str) -> None:
    """After the delivery limit the broker itself parks the message, instead of looping or dropping it."""
    bus = await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    await bus.publish(message(1), ALL)
    connection = await aio_pika.connect(amqp_url)
    channel = await connection.channel()
    queue = await channel.get_queue(ALL.name)
    await queue.consume(lambda taken: taken.reject(requeue=True))
    parked = await eventually(lambda: bus.parked(ALL, 5))
    await connection.close()
    assert parked[0].id == "m1"
    assert "delivery_limit" in parked[0].reason
    await bus.close()
