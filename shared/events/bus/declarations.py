"""Exchanges and queues on the broker. Every argument is explicit: the defaults differ between versions."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from aio_pika import ExchangeType
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange, AbstractQueue
from aio_pika.exceptions import ChannelNotFoundEntity, ChannelPreconditionFailed

from shared.events.bus.broker import queue_exists
from shared.events.bus.protocol import BusError
from shared.events.bus.topology import PARKED, Queue

# By default RabbitMQ 4 drops a message after 20 redeliveries; 3.x never does.
DELIVERY_LIMIT = 20
# Listing parked messages is a redelivery too, so this must never be reached. 3.x has no "unlimited".
PARKED_DELIVERY_LIMIT = 1_000_000


class QueueMismatch(BusError):
    """A queue or exchange exists with different arguments."""


def queue_arguments(queue: Queue) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "x-queue-type": "quorum",
        "x-delivery-limit": DELIVERY_LIMIT,
        "x-overflow": "reject-publish",
    }
    if queue.single_active:
        arguments["x-single-active-consumer"] = True
    if queue.parks:
        arguments |= {
            "x-dead-letter-exchange": PARKED,
            "x-dead-letter-routing-key": queue.name,
            "x-dead-letter-strategy": "at-least-once",
        }
    return arguments


class NotDeclared(BusError):
    """The service that declares it has not been connected to this broker yet."""


PARKED_ARGUMENTS: dict[str, Any] = {"x-queue-type": "quorum", "x-delivery-limit": PARKED_DELIVERY_LIMIT}


async def declare(channel: AbstractChannel, queue: Queue, names: Iterable[str]) -> dict[str, AbstractQueue]:
    """Declares queues of one group, by their names on the broker, with their exchange and parked queue."""
    exchange: AbstractExchange | None = None
    if queue.parks:
        async with _told("exchange", PARKED):
            parked = await channel.declare_exchange(PARKED, ExchangeType.DIRECT, durable=True)
        async with _told("queue", queue.parked):
            aside = await channel.declare_queue(queue.parked, durable=True, arguments=PARKED_ARGUMENTS)
        await aside.bind(parked, routing_key=queue.name)
    if queue.exchange:
        async with _told("exchange", queue.exchange):
            exchange = await channel.declare_exchange(queue.exchange, ExchangeType.DIRECT, durable=True)
    declared: dict[str, AbstractQueue] = {}
    for name in names:
        async with _told("queue", name):
            declared[name] = await channel.declare_queue(name, durable=True, arguments=queue_arguments(queue))
        if exchange is not None:
            await declared[name].bind(exchange, routing_key=name)
    return declared


async def expect(
    channel: AbstractChannel, queue: Queue, names: Iterable[str], *, publishing: bool
) -> dict[str, AbstractQueue]:
    """Finds the queues of a group that another service declares, which needs no permission."""
    found: dict[str, AbstractQueue] = {}
    looked_for = queue.exchange
    try:
        if publishing:
            await channel.get_exchange(looked_for, ensure=True)
        for looked_for in names:
            found[looked_for] = await channel.declare_queue(looked_for, passive=True)
    except ChannelNotFoundEntity:
        raise NotDeclared(f"{looked_for!r} does not exist yet; the event log's service declares it") from None
    return found


async def found_old_queues(
    connection: AbstractConnection, channel: AbstractChannel, queues: Iterable[Queue], *, bind: bool
) -> bool:
    """The single queue of the version before partitions. Producers with users of their own may not use the
    default exchange: with `bind` they reach it through the event log's.
    """
    old = [queue for queue in queues if queue.partitioned and await queue_exists(connection, queue.name)]
    for queue in old if bind else ():
        found = await channel.get_queue(queue.name, ensure=False)
        await found.bind(queue.exchange, routing_key=queue.name)
    return bool(old)


@asynccontextmanager
async def _told(kind: str, name: str) -> AsyncIterator[None]:
    try:
        yield
    except ChannelPreconditionFailed as problem:
        raise QueueMismatch(
            f"{name!r} exists on the broker with other arguments than this version wants ({problem}). "
            f"They cannot be changed: stop the consumers, delete it (rabbitmqctl delete_{kind} {name}) and "
            "start again; it is made anew, and what was in it is published again from the outboxes."
        ) from problem
