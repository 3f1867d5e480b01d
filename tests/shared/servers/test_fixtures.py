"""The fixtures that every other test depends on."""

from typing import Any

import aio_pika
import asyncpg

from shared.settings import SERVICES


async def schemas(url: str) -> set[str]:
    connection: asyncpg.Connection[Any] = await asyncpg.connect(url)
    try:
        return {row["nspname"] for row in await connection.fetch("SELECT nspname FROM pg_namespace")}
    finally:
        await connection.close()


async def test_a_database_comes_migrated(database_url: str) -> None:
    """Every service has its schema in a test's database."""
    assert set(SERVICES) <= await schemas(database_url)


async def test_a_test_leaves_its_database_unclean(database_url: str) -> None:
    """Half of the next test's proof: this one leaves a schema behind, and a connection too."""
    connection: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    await connection.execute("CREATE SCHEMA left_behind")


async def test_the_next_test_sees_nothing_of_it(database_url: str) -> None:
    """No test sees another one's rows."""
    assert "left_behind" not in await schemas(database_url)


async def test_a_vhost_is_a_private_broker(amqp_url: str) -> None:
    """A test's vhost takes declarations and messages without any prefix."""
    async with await aio_pika.connect(amqp_url) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue("events", durable=True)
        await channel.default_exchange.publish(aio_pika.Message(b"hello"), routing_key="events")
        message = await queue.get(timeout=5)
        assert message is not None and message.body == b"hello"
