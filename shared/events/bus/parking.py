"""Parks messages that cannot be handled, and lets operators list and requeue them."""

import structlog
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, AbstractQueue

from shared.events.bus.broker import unwrap, wrap
from shared.events.bus.protocol import Message, ParkedMessage, QueueDepth
from shared.events.bus.topology import PARKED, Queue

log = structlog.get_logger("bus")


async def park(channel: AbstractChannel, queue: Queue, message: Message, reason: str) -> None:
    """Publishes the message with its reason to the parked queue, before the original is acknowledged."""
    log.error("message_parked", queue=queue.name, id=message.id, topic=message.topic, reason=reason)
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
    return [_parked(message) for message in await _take(aside, limit)]


async def requeue_parked(
    channel: AbstractChannel, queue: Queue, partitions: int, ids: frozenset[str] | None
) -> int:
    """Publishes it directly to the queue that it belongs to."""
    aside = await channel.declare_queue(queue.parked, passive=True)
    count = 0
    for taken in await _take(aside, aside.declaration_result.message_count or 0):
        if ids is not None and (taken.message_id or "") not in ids:
            continue
        message = unwrap(taken)
        name = queue.partition(message.bucket % partitions) if queue.partitioned else queue.name
        await channel.default_exchange.publish(wrap(message), routing_key=name, mandatory=True)
        await taken.ack()
        count += 1
    return count


async def _take(queue: AbstractQueue, limit: int) -> list[AbstractIncomingMessage]:
    taken: list[AbstractIncomingMessage] = []
    while len(taken) < limit:
        message = await queue.get(no_ack=False, fail=False)
        if message is None:
            break
        taken.append(message)
    return taken


def _parked(message: AbstractIncomingMessage) -> ParkedMessage:
    reason = message.headers.get("reason")
    if reason is None:
        # The broker itself parked it: the delivery limit was reached, most often a consumer that kept dying.
        reason = f"dead-lettered by the broker ({message.headers.get('x-first-death-reason', 'unknown')!s})"
    return ParkedMessage(message.message_id or "", message.type or "", str(reason), message.body)
