"""The bus over RabbitMQ: quorum queues, and replies by `reply_to`.

No row is deleted because the broker has confirmed a message: its disk may be lost. If it returns or refuses
one, the session starts over. What gets lost is missed by the receiver (a gap) or by the sender (no reply).
"""

import asyncio
from typing import Any

import structlog
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import AMQPError, DeliveryError
from pamqp import commands

from shared.background import end_tasks
from shared.events.bus import (
    Batch,
    BusError,
    Handler,
    Link,
    OnReply,
    Park,
    Ready,
    Reply,
    broker,
    encode_message,
    reply_decoder,
)
from shared.events.bus.intake import Intake
from shared.events.bus.rabbit_consumer import Consumer
from shared.events.bus.topology import Queue, declares
from shared.wire import new_id

log = structlog.get_logger("bus")

OPEN_TIMEOUT = 10.0
# After this time the link counts as lost.
CONFIRM_TIMEOUT = 10.0
BROKER_PROBLEMS = (AMQPError, OSError, TimeoutError, RuntimeError)


class RabbitBus:
    """A connection per sender and one per consumer, so that a broker that throttles senders does not stop the
    consumers. `service` is the one that this process runs.
    """

    def __init__(self, url: str, service: str) -> None:
        self.url = url
        self.service = service
        self._consumers: dict[str, Consumer] = {}
        self._misconfigured: str | None = None

    async def link(self, queue: Queue, service: str, on_reply: OnReply) -> Link:
        link = RabbitLink(queue, on_reply, declares=declares(service))
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                await link.open(self.url, service)
        except BaseException as problem:
            await link.close()
            if isinstance(problem, broker.Misconfigured):
                self._misconfigured = str(problem)
            elif isinstance(problem, BROKER_PROBLEMS):
                raise BusError(f"not connected: {problem or type(problem).__name__}") from problem
            raise
        self._misconfigured = None
        return link

    async def subscribe(
        self, queue: Queue, handler: Handler, *, ready: Ready, park: Park | None = None
    ) -> None:
        intake = Intake(queue, handler, park)
        self._consumers[queue.name] = Consumer(self.url, intake, ready, declares=declares(self.service))

    def assign(self, queue: Queue, partitions: frozenset[int]) -> None:
        self._consumers[queue.name].assign(partitions)

    def lost_seconds(self, queue: Queue) -> float:
        return self._consumers[queue.name].lost_seconds()

    async def depth(self, queue: Queue) -> int:
        """On a connection of its own: an operator's request is rare and must not disturb others."""
        waiting = 0
        try:
            async with asyncio.timeout(30), await broker.open_connection(self.url) as connection:
                channel = await connection.channel()
                for number in queue.all_partitions:
                    found = await channel.declare_queue(queue.partition(number), passive=True)
                    waiting += found.declaration_result.message_count or 0
        except BROKER_PROBLEMS as problem:
            raise BusError(f"not connected: {type(problem).__name__}") from problem
        return waiting

    def problem(self) -> str | None:
        problems = (consumer.problem() for consumer in self._consumers.values())
        return self._misconfigured or next((one for one in problems if one), None)

    async def close(self) -> None:
        for consumer in self._consumers.values():
            await consumer.stop()


class RabbitLink:
    """Batches out, replies in, on one connection. The queue of replies lives as long as the connection."""

    def __init__(self, queue: Queue, on_reply: OnReply, *, declares: bool) -> None:
        self._queue = queue
        self._on_reply = on_reply
        self._declares = declares
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._underlay: Any = None
        self._inbox: Any = None
        self._failed = False
        self._publishing: set[asyncio.Task[None]] = set()

    @property
    def is_lost(self) -> bool:
        return self._failed or self._channel is None or self._channel.is_closed

    async def open(self, url: str, service: str) -> None:
        self._connection = await broker.open_connection(url)
        self._channel = channel = await self._connection.channel(
            publisher_confirms=True, on_return_raises=True
        )
        await broker.refuse_old_broker(channel)
        await (broker.declare_all(channel) if self._declares else broker.expect(channel, self._queue, 0))
        name = f"{service}.replies.{new_id()}"
        self._inbox = await channel.declare_queue(name, exclusive=True, auto_delete=True)
        await self._inbox.bind(self._queue.replies, routing_key=name)
        await self._inbox.consume(self._replied, no_ack=True)
        self._underlay = await channel.get_underlay_channel()

    async def send(self, batch: Batch, *, again: bool = False) -> None:
        if self.is_lost:
            raise BusError("the connection was closed")
        if again:
            # Somebody may have deleted the exchange, and our binding with it.
            await self._inbox.bind(self._queue.replies, routing_key=self._inbox.name, timeout=CONFIRM_TIMEOUT)
        # Tasks start, and so publish, in the order in which they are made.
        task = asyncio.create_task(self._publish(batch))
        self._publishing.add(task)
        task.add_done_callback(self._publishing.discard)

    async def _publish(self, batch: Batch) -> None:
        key = self._queue.partition(batch.partition % self._queue.partitions)
        try:
            async with asyncio.timeout(CONFIRM_TIMEOUT):
                await self._underlay.basic_publish(
                    encode_message(batch),
                    exchange=self._queue.exchange,
                    routing_key=key,
                    properties=commands.Basic.Properties(delivery_mode=2, reply_to=self._inbox.name),
                    mandatory=True,
                    wait=False,
                )
        except DeliveryError as problem:
            # The queue is missing, or refuses. Its session starts over, until the queue is declared again: by
            # its consumer, or by a new link if this service declares.
            log.warning("batch_not_taken", queue=key, error=type(problem).__name__)
            self._failed = self._failed or self._declares
            self._on_reply(Reply(batch.partition, batch.session, start_over=True))
        except BROKER_PROBLEMS as problem:
            if not self._failed:
                log.warning("batch_not_confirmed", queue=key, error=type(problem).__name__)
            self._failed = True

    async def close(self) -> None:
        self._failed = True
        await broker.close_quietly(self._connection)
        await end_tasks(self._publishing)

    async def _replied(self, message: AbstractIncomingMessage) -> None:
        self._on_reply(reply_decoder.decode(message.body))
