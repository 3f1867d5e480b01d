"""Exchanges and queues on the broker, with every argument said: the defaults differ between versions."""

from collections.abc import Sequence
from typing import Any

from aio_pika import ExchangeType
from aio_pika.abc import AbstractChannel, AbstractExchange, AbstractQueue
from aio_pika.exceptions import ChannelPreconditionFailed

from shared.events.bus.protocol import BusError
from shared.events.bus.topology import Queue

EVENTS = "studio.events"
PARKED = "studio.parked"

# RabbitMQ 4 drops after 20 redeliveries where nothing is said, 3.x never does.
DELIVERY_LIMIT = 20
# Looking at a parked message is a redelivery too: never to be reached, and 3.x knows no "unlimited".
PARKED_DELIVERY_LIMIT = 1_000_000


class QueueMismatch(BusError):
    """A queue or exchange exists with other arguments than this version wants."""


def queue_arguments(queue: Queue) -> dict[str, Any]:
    return {
        "x-queue-type": "quorum",
        # Replicas take over from one another but never work side by side: order would be lost between them.
        "x-single-active-consumer": True,
        "x-delivery-limit": DELIVERY_LIMIT,
        "x-dead-letter-exchange": PARKED,
        "x-dead-letter-routing-key": queue.name,
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }


PARKED_ARGUMENTS: dict[str, Any] = {"x-queue-type": "quorum", "x-delivery-limit": PARKED_DELIVERY_LIMIT}


async def declare(
    channel: AbstractChannel, queues: Sequence[Queue]
) -> tuple[AbstractExchange, dict[str, AbstractQueue]]:
    """Everything, whoever connects: a publisher may be up before the consumers are."""
    name = EVENTS
    try:
        events = await channel.declare_exchange(EVENTS, ExchangeType.TOPIC, durable=True)
        name = PARKED
        parked = await channel.declare_exchange(PARKED, ExchangeType.DIRECT, durable=True)
        declared: dict[str, AbstractQueue] = {}
        for queue in queues:
            name = queue.parked
            aside = await channel.declare_queue(name, durable=True, arguments=PARKED_ARGUMENTS)
            await aside.bind(parked, routing_key=queue.name)
            name = queue.name
            declared[name] = await channel.declare_queue(name, durable=True, arguments=queue_arguments(queue))
            for topic in queue.topics:
                await declared[name].bind(events, routing_key=topic)
    except ChannelPreconditionFailed as problem:
        raise QueueMismatch(
            f"{name!r} exists on the broker with other arguments than this version wants ({problem}). "
            "A queue's arguments cannot be changed: let its consumers drain it, stop them, delete it "
            f"(rabbitmqctl delete_queue {name}) and start again; it is made anew with the right ones."
        ) from problem
    return events, declared
