"""Where a message goes that cannot be handled, and how operators look at it and send it back."""

import aio_pika
import structlog
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, AbstractQueue

from shared.events.bus.declarations import PARKED
from shared.events.bus.protocol import Message, ParkedMessage, QueueDepth
from shared.events.bus.topology import Queue

log = structlog.get_logger("bus")


async def park(channel: AbstractChannel, queue: Queue, message: Message, reason: str) -> None:
    """Published aside with its reason and confirmed, before the original is acknowledged."""
    log.error("message_parked", queue=queue.name, id=message.id, topic=message.topic, reason=reason)
    exchange = await channel.get_exchange(PARKED, ensure=False)
    headers: dict[str, aio_pika.abc.FieldValue] = {"reason": reason}
    if message.traceparent:
        headers["traceparent"] = message.traceparent
    await exchange.publish(
        aio_pika.Message(
            message.body,
            message_id=message.id or None,
            type=message.topic,
            content_type="application/json",
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
            headers=headers,
        ),
        routing_key=queue.name,
        mandatory=True,
    )


async def parked_depth(channel: AbstractChannel, queue: Queue) -> QueueDepth:
    waiting = await channel.declare_queue(queue.name, passive=True)
    aside = await channel.declare_queue(queue.parked, passive=True)
    return QueueDepth(
        queue.name,
        waiting.declaration_result.message_count or 0,
        aside.declaration_result.message_count or 0,
    )


async def list_parked(channel: AbstractChannel, queue: Queue, limit: int) -> list[ParkedMessage]:
    """They are given back unread when the channel is closed."""
    aside = await channel.declare_queue(queue.parked, passive=True)
    return [_parked(message) for message in await _take(aside, limit)]


async def requeue_parked(channel: AbstractChannel, queue: Queue, ids: frozenset[str] | None) -> int:
    """Straight to the one queue it was parked from: other queues have handled it already."""
    aside = await channel.declare_queue(queue.parked, passive=True)
    count = 0
    for message in await _take(aside, aside.declaration_result.message_count or 0):
        if ids is not None and (message.message_id or "") not in ids:
            continue
        await channel.default_exchange.publish(
            aio_pika.Message(
                message.body,
                message_id=message.message_id,
                type=message.type,
                content_type="application/json",
                delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
                headers={k: v for k, v in message.headers.items() if k == "traceparent"},
            ),
            routing_key=queue.name,
            mandatory=True,
        )
        await message.ack()
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
