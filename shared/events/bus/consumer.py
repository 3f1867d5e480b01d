"""One queue's consumer: its own connection, watched, made anew when it is lost or has gone silent."""

import asyncio
import contextlib
from collections.abc import Sequence

import aio_pika
import structlog
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage

from shared.background import Backoff
from shared.events.bus.batch_outcomes import outcomes
from shared.events.bus.declarations import QueueMismatch, declare
from shared.events.bus.parking import park
from shared.events.bus.protocol import Handler, Message
from shared.events.bus.topology import Queue

log = structlog.get_logger("bus")

# Consumers have been seen silently dead after a broker restart: when nothing comes, the broker is asked.
WATCH_SECONDS = 5.0
LOST = None


class ConsumerLost(Exception):
    """The connection, the channel or the subscription is gone: start over."""


class Consumer:
    def __init__(self, url: str, queue: Queue, queues: Sequence[Queue], handler: Handler, batch: int) -> None:
        self.url = url
        self.queue = queue
        self.queues = queues
        self.handler = handler
        self.batch = batch
        self._task: asyncio.Task[None] | None = None
        self._connection: AbstractConnection | None = None
        self._trouble: str | None = "not connected yet"
        self._started = asyncio.Event()

    async def start(self) -> None:
        """Returns once the first connection stands or has failed: a broker may come up later."""
        self._task = asyncio.create_task(self._run(), name=f"bus:{self.queue.name}")
        await self._started.wait()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._close()

    def problem(self) -> str | None:
        if self._task is not None and self._task.done():
            return f"the consumer of {self.queue.name} has ended"
        return f"the consumer of {self.queue.name} is {self._trouble}" if self._trouble else None

    async def _run(self) -> None:
        backoff = Backoff()
        while True:
            try:
                await self._consume(backoff)
            except QueueMismatch as problem:
                self._trouble = str(problem)
                log.error("queue_mismatch", queue=self.queue.name, error=str(problem))
            except Exception as problem:
                self._trouble = f"not connected ({type(problem).__name__})"
                log.warning("consumer_lost", queue=self.queue.name, error=str(problem) or repr(problem))
            self._started.set()
            await self._close()
            await backoff.pause()

    async def _consume(self, backoff: Backoff) -> None:
        self._connection = await aio_pika.connect(self.url, timeout=5)
        # Kept in a local for as long as it is used: a channel nobody refers to is collected.
        channel = await self._connection.channel(publisher_confirms=True, on_return_raises=True)
        await channel.set_qos(prefetch_count=self.batch * 2)
        _, declared = await declare(channel, self.queues)
        arrived: asyncio.Queue[AbstractIncomingMessage | None] = asyncio.Queue()
        channel.close_callbacks.add(lambda *_: arrived.put_nowait(LOST), weak=False)
        await declared[self.queue.name].consume(arrived.put)
        self._trouble = None
        self._started.set()
        backoff.reset()
        while True:
            await self._settle(channel, await self._next_batch(channel, arrived))

    async def _next_batch(
        self, channel: AbstractChannel, arrived: "asyncio.Queue[AbstractIncomingMessage | None]"
    ) -> list[AbstractIncomingMessage]:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WATCH_SECONDS):
                    taken = [await arrived.get()]
                    while len(taken) < self.batch and not arrived.empty():
                        taken.append(arrived.get_nowait())
                    if LOST in taken:
                        raise ConsumerLost("the channel was closed")
                    return [message for message in taken if message is not None]
            await self._watch(channel)

    async def _watch(self, channel: AbstractChannel) -> None:
        async with asyncio.timeout(WATCH_SECONDS):
            queue = await channel.declare_queue(self.queue.name, passive=True)
        if queue.declaration_result.consumer_count == 0:
            raise ConsumerLost("the broker knows no consumer of ours")

    async def _settle(self, channel: AbstractChannel, taken: list[AbstractIncomingMessage]) -> None:
        """Handle, park what cannot be handled, then acknowledge all of it at once."""
        messages = [message_of(message) for message in taken]
        results = outcomes(messages, self.handler, queue=self.queue.name, backoff=Backoff())
        async for message, reason in results:
            if reason is not None:
                await park(channel, self.queue, message, reason)
        await taken[-1].ack(multiple=True)

    async def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and not connection.is_closed:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(2):
                    await connection.close()


def message_of(message: AbstractIncomingMessage) -> Message:
    trace = message.headers.get("traceparent")
    topic = message.type or message.routing_key or ""
    return Message(message.message_id or "", topic, message.body, trace if isinstance(trace, str) else None)
