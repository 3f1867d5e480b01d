"""Plain connections to the broker with short heartbeats. We monitor them and reconnect ourselves."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import aio_pika
import msgspec
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import ChannelNotFoundEntity
from yarl import URL

from shared.events.bus.protocol import Message
from shared.events.bus.publish_batches import CONTENT_TYPE, pack, unpack

CONNECT_TIMEOUT = 5.0
# The broker closes a connection that was silent for twice as long. A replica that hangs, or whose machine has
# disappeared, then loses its partitions to another one. Until then they make no progress.
HEARTBEAT_SECONDS = 4


async def open_connection(url: str) -> AbstractConnection:
    """aio-pika's own reconnecting has left consumers silently dead, so callers reconnect themselves."""
    heartbeat = URL(url).query.get("heartbeat", str(HEARTBEAT_SECONDS))
    return await aio_pika.connect(url, timeout=CONNECT_TIMEOUT, heartbeat=heartbeat)


async def close_quietly(connection: AbstractConnection | None) -> None:
    if connection is None or connection.is_closed:
        return
    with contextlib.suppress(Exception):
        async with asyncio.timeout(2):
            await connection.close()


@contextlib.asynccontextmanager
async def short_channel(url: str) -> AsyncIterator[AbstractChannel]:
    """On a connection of its own, for an operator's request. These are rare and must not disturb others."""
    async with asyncio.timeout(30):
        connection = await open_connection(url)
        async with connection, connection.channel(on_return_raises=True) as channel:
            yield channel


async def queue_exists(connection: AbstractConnection, name: str) -> bool:
    """On a separate channel, because the broker closes it if the queue does not exist."""
    channel = await connection.channel()
    try:
        await channel.declare_queue(name, passive=True)
    except ChannelNotFoundEntity:
        return False
    await channel.close()
    return True


def wrap(message: Message, **headers: str) -> aio_pika.Message:
    if message.traceparent:
        headers["traceparent"] = message.traceparent
    return aio_pika.Message(
        message.body,
        message_id=message.id or None,
        type=message.topic,
        content_type="application/json",
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        reply_to=message.source or None,
        correlation_id=message.reference or None,
        headers={"bucket": message.bucket, **headers},
    )


def wrap_batch(messages: Sequence[Message]) -> aio_pika.Message:
    return aio_pika.Message(
        pack(messages),
        type="batch",
        content_type=CONTENT_TYPE,
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
    )


def unwrap_all(message: AbstractIncomingMessage) -> list[Message]:
    """The messages of a batch. What cannot be read is returned as it is, for the handler to refuse."""
    if message.content_type != CONTENT_TYPE:
        return [unwrap(message)]
    try:
        return unpack(message.body) or [unwrap(message)]
    except msgspec.DecodeError:
        return [unwrap(message)]


def unwrap(message: AbstractIncomingMessage) -> Message:
    trace, bucket = message.headers.get("traceparent"), message.headers.get("bucket")
    return Message(
        message.message_id or "",
        message.type or message.routing_key or "",
        message.body,
        trace if isinstance(trace, str) else None,
        bucket if isinstance(bucket, int) else 0,
        message.reply_to or "",
        message.correlation_id or "",
    )
