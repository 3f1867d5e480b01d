"""The bus over RabbitMQ: quorum queues, confirms, returns raised, parked instead of dropped."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence

import aio_pika
import structlog
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange
from aio_pika.exceptions import AMQPError, DeliveryError, PublishError

from shared.events.bus.broker_version import refuse_old_broker
from shared.events.bus.consumer import Consumer
from shared.events.bus.declarations import QueueMismatch, declare
from shared.events.bus.parking import list_parked, parked_depth, requeue_parked
from shared.events.bus.protocol import BusError, Handler, Message, ParkedMessage, QueueDepth, Unroutable
from shared.events.bus.topology import QUEUES, Queue

log = structlog.get_logger("bus")

CONNECT_TIMEOUT = 5.0
# After a failure nobody knocks again so soon: a whole batch of publishers would, one after the other.
QUIET_SECONDS = 0.5


class RabbitBus:
    """One connection for publishing and one per consumer, so that a broker that throttles publishers does not
    stop the consumers. aio-pika's own reconnecting has left consumers silently dead: connections are plain
    ones, watched and made anew here.
    """

    def __init__(self, url: str, queues: Sequence[Queue] = QUEUES, *, confirm_timeout: float = 10.0) -> None:
        self.url = url
        self.queues = tuple(queues)
        self.confirm_timeout = confirm_timeout
        self._connecting = asyncio.Lock()
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._exchange: AbstractExchange | None = None
        self._consumers: list[Consumer] = []
        self._mismatch: str | None = None
        self._failed_at = -QUIET_SECONDS

    async def connect(self) -> "RabbitBus":
        """Called once at start: declares everything, and says at once when an old queue stands in the way."""
        await self._publishing()
        return self

    async def publish(self, message: Message) -> None:
        headers = {"traceparent": message.traceparent} if message.traceparent else {}
        wrapped = aio_pika.Message(
            message.body,
            message_id=message.id,
            type=message.topic,
            content_type="application/json",
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
            headers=dict(headers),
        )
        try:
            # publish(timeout=…) does not cover everything that can hang: this does.
            async with asyncio.timeout(self.confirm_timeout):
                exchange = await self._publishing()
                await exchange.publish(wrapped, routing_key=message.topic, mandatory=True)
        except TimeoutError:
            await self._drop()
            raise BusError(f"no confirm within {self.confirm_timeout:g} s") from None
        except PublishError as problem:
            raise Unroutable(f"no queue takes {message.topic}") from problem
        except DeliveryError as problem:
            raise BusError(f"the broker refused {message.topic}") from problem
        except (AMQPError, OSError, RuntimeError) as problem:
            raise BusError(f"not confirmed: {type(problem).__name__}") from problem

    async def subscribe(self, queue: Queue, handler: Handler, *, batch: int = 1) -> None:
        consumer = Consumer(self.url, queue, self.queues, handler, batch)
        self._consumers.append(consumer)
        await consumer.start()

    async def depth(self, queue: Queue) -> QueueDepth:
        async with self._short_channel() as channel:
            return await parked_depth(channel, queue)

    async def parked(self, queue: Queue, limit: int) -> list[ParkedMessage]:
        async with self._short_channel() as channel:
            return await list_parked(channel, queue, limit)

    async def requeue(self, queue: Queue, ids: frozenset[str] | None = None) -> int:
        async with self._short_channel() as channel:
            return await requeue_parked(channel, queue, ids)

    def problem(self) -> str | None:
        if self._mismatch:
            return self._mismatch
        problems = [text for consumer in self._consumers if (text := consumer.problem())]
        return problems[0] if problems else None

    async def close(self) -> None:
        for consumer in self._consumers:
            await consumer.stop()
        await self._drop()

    async def _publishing(self) -> AbstractExchange:
        if self._exchange is not None and self._channel is not None and not self._channel.is_closed:
            return self._exchange
        async with self._connecting:
            if self._exchange is not None and self._channel is not None and not self._channel.is_closed:
                return self._exchange
            if time.monotonic() - self._failed_at < QUIET_SECONDS:
                raise BusError("the broker was out of reach a moment ago")
            await self._drop()
            try:
                self._connection = await aio_pika.connect(self.url, timeout=CONNECT_TIMEOUT)
                self._channel = await self._connection.channel(publisher_confirms=True, on_return_raises=True)
                await refuse_old_broker(self._channel)
                self._exchange, _ = await declare(self._channel, self.queues)
            except BaseException as problem:
                self._mismatch = str(problem) if isinstance(problem, QueueMismatch) else None
                self._failed_at = time.monotonic()
                await self._drop()
                raise
            self._mismatch = None
            return self._exchange

    @contextlib.asynccontextmanager
    async def _short_channel(self) -> AsyncIterator[AbstractChannel]:
        """A connection for one question of an operator; it is rare, and must not disturb the others."""
        async with asyncio.timeout(30):
            connection = await aio_pika.connect(self.url, timeout=CONNECT_TIMEOUT)
            async with connection, connection.channel(on_return_raises=True) as channel:
                yield channel

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._channel = self._exchange = None
        await close_quietly(connection)


async def close_quietly(connection: AbstractConnection | None) -> None:
    if connection is None or connection.is_closed:
        return
    with contextlib.suppress(Exception):
        async with asyncio.timeout(2):
            await connection.close()
