"""The operators' figures: correct up to a limit, and cheap however many deliveries wait."""

import asyncpg
import pytest
from prometheus_client import REGISTRY

from services.webhooks.store import deliveries
from services.webhooks.telemetry import update_gauges
from shared.events.bus import EVENT_LOG, BusError
from shared.events.bus.memory import MemoryBus
from shared.events.bus.rabbit import RabbitBus
from shared.observability.metrics import DELIVERIES_OPEN, QUEUE_MESSAGES
from shared.servers.ports import free_port
from tests.harness.database_layout import open_database
from tests.harness.databases import connected
from tests.services.webhooks.studio_client import StudioClient, hold_lanes
from tests.services.webhooks.test_lane_leases import READ

WAITING = 600
LIMIT = 100


async def held_endpoint(client: StudioClient, events: int) -> None:
    """With deliveries that no dispatcher touches."""
    await client.endpoint("https://partner.example/hook")
    await hold_lanes(client)
    await client.publish_some(events)


async def test_the_gauges_of_deliveries_and_of_queues_do_not_depend_on_each_other(
    client: StudioClient, database_url: str
) -> None:
    """While the broker is out of reach the delivery backlog is still reported, and the other way round."""
    await held_endpoint(client, 3)
    DELIVERIES_OPEN.labels("pending").set(-1)
    with pytest.raises(BusError):
        await update_gauges(client.context.db, RabbitBus(f"amqp://127.0.0.1:{free_port()}", "webhooks"))
    assert REGISTRY.get_sample_value("studio_deliveries", {"status": "pending"}) == 3
    closed = await open_database(database_url, "webhooks", size=1)
    await closed.close()
    QUEUE_MESSAGES.labels(EVENT_LOG.name, "waiting").set(-1)
    with pytest.raises(asyncpg.InterfaceError):
        await update_gauges(closed, MemoryBus())
    found = REGISTRY.get_sample_value("studio_queue_messages", {"queue": EVENT_LOG.name, "state": "waiting"})
    assert found == 0


async def test_the_figures_count_up_to_a_limit_however_many_deliveries_wait(
    client: StudioClient, database_url: str
) -> None:
    """540 ms for 500,000 waiting deliveries, every 15 s on every replica, was too much."""
    await held_endpoint(client, WAITING)
    await client.sql("UPDATE deliveries SET step = 1 WHERE sequence % 2 = 0")
    await client.sql("UPDATE deliveries SET status = 'dead' WHERE sequence % 5 = 0")
    async with connected(database_url) as admin:
        await admin.execute("ANALYZE webhooks.deliveries")
    async with client.context.db.connection() as conn, conn.transaction():
        before = await conn.fetchval(READ)
        [limited] = await conn.fetch(deliveries.COUNTS, LIMIT)
        assert (limited["pending"], limited["dead"]) == (LIMIT, LIMIT)
        assert await conn.fetchval(READ) - before <= 3 * LIMIT + 3
        found = await deliveries.counts(conn)
    assert (found["pending"], found["dead"]) == (WAITING * 4 // 5, WAITING // 5)
