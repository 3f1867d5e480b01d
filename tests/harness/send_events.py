"""Events straight to a queue's consumer, without an outbox."""

import asyncio
from collections.abc import Sequence

from shared.events.bus import EVENT_LOG, Batch, Bus, Message, Queue, Reply
from shared.wire import new_id


async def send_events(bus: Bus, messages: Sequence[Message], queue: Queue = EVENT_LOG) -> Reply:
    """One batch of a session of its own. Returns what the consumer replied, once it has handled it."""
    replied: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    link = await bus.link(queue, "webhooks", replied.set_result)
    try:
        await link.send(Batch(0, new_id(), 1, list(messages)))
        async with asyncio.timeout(30):
            return await replied
    finally:
        await link.close()
