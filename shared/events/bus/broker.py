"""Connections to RabbitMQ, and the exchanges and queues on it."""

import asyncio
import contextlib
import re
from collections.abc import Iterator

import aio_pika
from aio_pika import ExchangeType
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractQueue
from aio_pika.exceptions import ChannelNotFoundEntity, ChannelPreconditionFailed
from yarl import URL

from shared.events.bus import BusError
from shared.events.bus.topology import QUEUE_ARGUMENTS, QUEUES, Queue

CONNECT_TIMEOUT = 5.0
# The broker closes a connection that was silent for twice as long. A replica that hangs, or whose machine has
# disappeared, then loses its partitions to another one. Until then they make no progress.
HEARTBEAT_SECONDS = 4
# The first whose quorum queues are what we expect of them.
OLDEST = (3, 10)


class Misconfigured(BusError):
    """The broker needs an operator: the message is one sentence that says what to do."""


async def open_connection(url: str) -> AbstractConnection:
    """aio-pika's own reconnecting has left consumers silently dead, so callers reconnect themselves."""
    heartbeat = URL(url).query.get("heartbeat", str(HEARTBEAT_SECONDS))
    return await aio_pika.connect(url, timeout=CONNECT_TIMEOUT, heartbeat=heartbeat)


async def close_quietly(connection: AbstractConnection | AbstractChannel | None) -> None:
    if connection is None or connection.is_closed:
        return
    with contextlib.suppress(Exception):
        async with asyncio.timeout(2):
            await connection.close()


async def refuse_old_broker(channel: AbstractChannel, oldest: tuple[int, int] = OLDEST) -> None:
    underlay = await channel.get_underlay_channel()
    said = underlay.connection.server_properties.get("version", "")
    version = said.decode() if isinstance(said, bytes) else str(said)
    found = re.match(r"(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) < oldest:
        wanted = ".".join(map(str, oldest))
        raise Misconfigured(f"RabbitMQ {version} is too old: {wanted} or newer is needed.")


async def declare_all(channel: AbstractChannel) -> None:
    """Whatever is missing. One of them may be deleted at any time, and whether a binding exists can only be
    found out by making it.
    """
    for queue in QUEUES:
        for number in sorted(queue.all_partitions):
            await declare(channel, queue, number)


async def declare(channel: AbstractChannel, queue: Queue, number: int) -> AbstractQueue:
    """One partition of a queue, with its exchanges."""
    name = queue.partition(number)
    with _naming("exchange", queue.exchange):
        exchange = await channel.declare_exchange(queue.exchange, ExchangeType.DIRECT, durable=True)
    with _naming("exchange", queue.replies):
        await channel.declare_exchange(queue.replies, ExchangeType.DIRECT, durable=True)
    with _naming("queue", name):
        declared = await channel.declare_queue(name, durable=True, arguments=QUEUE_ARGUMENTS)
    await declared.bind(exchange, routing_key=name)
    return declared


async def expect(channel: AbstractChannel, queue: Queue, number: int) -> AbstractQueue:
    """A queue that another service declares. To look for it takes no permission."""
    name = queue.partition(number)
    try:
        return await channel.declare_queue(name, passive=True)
    except ChannelNotFoundEntity:
        raise BusError(f"{name!r} does not exist yet; the event log's service declares it") from None


@contextlib.contextmanager
def _naming(kind: str, name: str) -> Iterator[None]:
    try:
        yield
    except ChannelPreconditionFailed as problem:
        raise Misconfigured(
            f"{name!r} exists on the broker with other arguments than this version wants ({problem}). "
            f"They cannot be changed: stop the consumers, delete it (rabbitmqctl delete_{kind} {name}) and "
            "start again; it is made anew, and what was in it is sent again from the outboxes."
        ) from problem
