"""The change from the single queue to partitions: nothing lost, order kept, while both versions run."""

from collections.abc import Sequence

import aio_pika
import pytest

from shared.background import Loop, Wakeup, running
from shared.events.bus import EVENT_LOG, QUEUES
from shared.events.bus.declarations import queue_arguments
from shared.events.bus.rabbit import RabbitBus
from shared.events.envelope import render
from shared.events.event import Event, EventResource
from shared.events.kinds import BookingCreated
from shared.events.outbox import add_events
from shared.events.relay import Relay
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.harness.databases import Template
from tests.harness.eventually import eventually
from tests.services.webhooks.studio_client import open_studio_client

OLD_EXCHANGE = "studio.events"


async def publish_as_older_version(amqp_url: str, events: Sequence[Event]) -> None:
    """Its exchange, its single queue and its message, which has no bucket and no acknowledgement queue."""
    connection = await aio_pika.connect(amqp_url)
    async with connection:
        channel = await connection.channel(publisher_confirms=True, on_return_raises=True)
        exchange = await channel.declare_exchange(OLD_EXCHANGE, aio_pika.ExchangeType.TOPIC, durable=True)
        queue = await channel.declare_queue(
            EVENT_LOG.name, durable=True, arguments=queue_arguments(EVENT_LOG)
        )
        await queue.bind(exchange, routing_key="#")
        for event in events:
            message = aio_pika.Message(render(event), message_id=event.id, type=event.type)
            await exchange.publish(message, routing_key=event.type, mandatory=True)


@pytest.mark.timeout(120)
async def test_the_old_queue_is_emptied_before_the_partitions_overtake_it(
    database_url: str, migrated_template: Template, amqp_url: str
) -> None:
    """40 events in the old queue whose rows are gone, then 40 more by the new relay, of one booking."""
    booking, studio = new_id(), new_id()
    events = [
        BookingCreated(studio_id=studio, resource=EventResource("booking", booking, version), data={})
        for version in range(80)
    ]
    await publish_as_older_version(amqp_url, events[:40])
    async with (
        open_studio_client(database_url, bus=RabbitBus(amqp_url, QUEUES, partitions=4)) as client,
        migrated_template.copy() as producer_url,
    ):
        producer = RabbitBus(amqp_url, QUEUES, partitions=4)
        db = await open_database(producer_url, "bookings", size=4)
        relay = Relay(db, producer, Wakeup(), service="bookings")
        await relay.start()
        async with db.transaction() as conn:
            await add_events(conn, events[40:])
        async with running([Loop("relay", relay.step, idle=0.05, wakeup=relay.wakeup)]):

            async def all_logged() -> list[str] | None:
                rows = await client.sql("SELECT id FROM events ORDER BY sequence")
                return [row["id"] for row in rows] if len(rows) >= 80 else None

            logged = await eventually(all_logged, seconds=60)
            assert logged == [event.id for event in events]

            async def outbox_empty() -> bool:
                async with db.connection() as conn:
                    return not await conn.fetchval("SELECT count(*) FROM outbox")

            await eventually(outbox_empty)
        assert producer.has_old_queue, "control: it was there all the time"
        await publish_as_older_version(amqp_url, [client.event()])

        async def late_logged() -> bool:
            return len(await client.sql("SELECT 1 FROM events")) == 81

        await eventually(late_logged)
        await relay.stop()
        await producer.close()
        await db.close()
