"""Parks messages that cannot be handled, and lets operators list and requeue them."""

import structlog
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, AbstractQueue

from shared.events.bus.broker import unwrap_all, wrap
from shared.events.bus.protocol import Message, ParkedMessage, QueueDepth
from shared.events.bus.topology import PARKED, Queue

log = structlog.get_logger("bus")


async def park(channel: AbstractChannel, queue: Queue, message: Message, reason: str) -> None:
    """Publishes the message with its reason to the parked queue, before the original is acknowledged."""
    log.error("message_parked", queue=queue.name, id=message.id, topic=message.topic, reason=reason)
    await _publish_parked(channel, queue, message, reason)


async def _publish_parked(channel: AbstractChannel, queue: Queue, message: Message, reason: str) -> None:
    exchange = await channel.get_exchange(PARKED, ensure=False)
    await exchange.publish(wrap(message, reason=reason), routing_key=queue.name, mandatory=True)


async def queue_depth(channel: AbstractChannel, queue: Queue, partitions: int) -> QueueDepth:
    waiting = 0
    for name in queue.names(partitions):
        found = await channel.declare_queue(name, passive=True)
        waiting += found.declaration_result.message_count or 0
    aside = await channel.declare_queue(queue.parked, passive=True)
    return QueueDepth(queue.name, waiting, aside.declaration_result.message_count or 0)


async def list_parked(channel: AbstractChannel, queue: Queue, limit: int) -> list[ParkedMessage]:
    """The messages go back to the parked queue when the channel is closed."""
    aside = await channel.declare_queue(queue.parked, passive=True)
    taken = await _take(aside, limit)
    return [parked for message in taken for parked in _parked(message)][:limit]


async def requeue_parked(
    channel: AbstractChannel, queue: Queue, partitions: int, ids: frozenset[str] | None
) -> int:
    """Publishes them directly to the queue that they belong to. The rest of a batch stays parked."""
    aside = await channel.declare_queue(queue.parked, passive=True)
    count = 0
    for taken in await _take(aside, aside.declaration_result.message_count or 0):
        messages = unwrap_all(taken)
        wanted = [message for message in messages if ids is None or message.id in ids]
        if not wanted:
            continue
        for message in wanted:
            name = queue.partition(message.bucket % partitions) if queue.partitioned else queue.name
            await channel.default_exchange.publish(wrap(message), routing_key=name, mandatory=True)
        for message in messages:
            if message not in wanted:
                await _publish_parked(channel, queue, message, _reason(taken))
        await taken.ack()
        count += len(wanted)
    return count


async def _take(queue: AbstractQueue, limit: int) -> list[AbstractIncomingMessage]:
    taken: list[AbstractIncomingMessage] = []
    while len(taken) < limit:
        message = await queue.get(no_ack=False, fail=False)
        if message is None:
            break
        taken.append(message)
    return taken


def _parked(taken: AbstractIncomingMessage) -> list[ParkedMessage]:
    reason = _reason(taken)
    return [ParkedMessage(message.id, message.topic, reason, message.body) for message in unwrap_all(taken)]


def _reason(taken: AbstractIncomingMessage) -> str:
    reason = taken.headers.get("reason")
    if reason is None:
        # The broker itself parked it: the delivery limit was reached, most often a consumer that kept dying.
        reason = f"dead-lettered by the broker ({taken.headers.get('x-first-death-reason', 'unknown')!s})"
    return str(reason)
