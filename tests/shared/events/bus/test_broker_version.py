"""A broker that is too old is refused, with a message that names its version."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aio_pika
import pytest

from shared.events.bus.broker_version import BrokerTooOld, refuse_old_broker
from shared.events.bus.rabbit import RabbitBus
from tests.shared.events.bus.queues import QUEUES


async def test_a_broker_that_is_too_old_is_refused(amqp_url: str) -> None:
    """RabbitMQ sends its version in the handshake; the error names both versions."""
    connection = await aio_pika.connect(amqp_url)
    async with connection, connection.channel() as channel:
        await refuse_old_broker(channel)
        with pytest.raises(BrokerTooOld, match=r"^RabbitMQ \d+\.\d+\.\d+ is too old: 99\.0 or newer"):
            await refuse_old_broker(channel, (99, 0))


async def test_a_bus_does_not_use_a_broker_that_is_too_old(amqp_url: str) -> None:
    """Nothing is declared on it, and readiness shows the error."""
    async with pretending_to_be_3_9(amqp_url) as url:
        bus = RabbitBus(url, QUEUES)
        with pytest.raises(BrokerTooOld, match=r"^RabbitMQ 3\.9\.0+ is too old"):
            await bus.connect()
        assert "too old" in (bus.problem() or "")
        await bus.close()


@asynccontextmanager
async def pretending_to_be_3_9(amqp_url: str) -> AsyncIterator[str]:
    """The real broker behind a proxy that changes only the version in the handshake."""
    parts = urlsplit(amqp_url)

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, first: bool) -> None:
        while data := await reader.read(65536):
            if first:
                data = re.sub(rb"(\x07versionS....)([\d.]+)", _older, data, count=1, flags=re.DOTALL)
                first = False
            writer.write(data)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, to_them = await asyncio.open_connection(parts.hostname, parts.port)
        await asyncio.gather(
            forward(reader, to_them, first=False), forward(theirs, writer, first=True), return_exceptions=True
        )

    proxy = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = proxy.sockets[0].getsockname()[1]
    try:
        yield parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{port}").geturl()
    finally:
        proxy.close()


def _older(found: "re.Match[bytes]") -> bytes:
    return found[1] + b"3.9.".ljust(len(found[2]), b"0")
