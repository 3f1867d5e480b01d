"""Plain connections to the broker with short heartbeats. We monitor them and reconnect ourselves."""

import asyncio
import contextlib

import aio_pika
from aio_pika.abc import AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import ChannelNotFoundEntity
from yarl import URL

from shared.events.bus.protocol import Message

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
