"""The bus over RabbitMQ: quorum queues, confirms, returns raised, parked instead of dropped."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence

from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange
from aio_pika.exceptions import AMQPError, DeliveryError, PublishError

from shared.events.bus.acknowledgements import (
    Acknowledgement,
    AcknowledgementSender,
    Settle,
    readable_acknowledgements,
)
from shared.events.bus.broker import close_quietly, open_connection, short_channel, wrap, wrap_batch
from shared.events.bus.broker_version import refuse_old_broker
from shared.events.bus.consumer import Consumer
from shared.events.bus.declarations import QueueMismatch, found_old_queues
from shared.events.bus.parking import list_parked, queue_depth, requeue_parked
from shared.events.bus.permissions import allows, declares_topology
from shared.events.bus.protocol import BusError, Handler, Message, ParkedMessage, QueueDepth, Unroutable
from shared.events.bus.publish_batches import BatchPublisher, Destination
from shared.events.bus.refusals import Refusals
from shared.events.bus.topology import EVENT_LOG, QUEUES, Queue, acknowledgements_of
from shared.events.bus.topology_watch import TopologyWatch, declare_all, expect_event_log
from shared.wire import encode

# The pause after a failed connection. Otherwise a whole batch of publishers would retry, one after the other.
QUIET_SECONDS = 0.5


class RabbitBus:
    """One connection for publishing and one per consumer, so that a broker that throttles publishers does not
    stop the consumers.

    With `service` it does only what the broker allows that service's own user. Without, one user may do all.
    """

    keeps_parked = True

    def __init__(
        self,
        url: str,
        queues: Sequence[Queue] = QUEUES,
        *,
        partitions: int = 16,
        confirm_timeout: float = 10.0,
        service: str | None = None,
    ) -> None:
        self.url = url
        self.queues = tuple(queues)
        self.partitions = partitions
        self.confirm_timeout = confirm_timeout
        self.has_old_queue = False
        self._service = service
        self._declares = service is None or declares_topology(service)
        self._connecting = asyncio.Lock()
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._exchanges: dict[str, AbstractExchange] = {}
        self._connections = 0
        self._consumers: dict[str, Consumer] = {}
        self._acknowledged: list[Consumer] = []
        self._acknowledgements = AcknowledgementSender(self._send_acknowledgements)
        self._batches = BatchPublisher(self._send)
        self._refusals = Refusals()
        self._topology = TopologyWatch(self._declare_again)
        self._mismatch: str | None = None
        self._failed_at = -QUIET_SECONDS

    async def connect(self) -> "RabbitBus":
        await self.ensure_connected()
        return self

    async def ensure_connected(self) -> int:
        """Declares everything, and fails at once if an existing queue has different arguments."""
        try:
            async with asyncio.timeout(self.confirm_timeout):
                await self._publishing()
        except (AMQPError, OSError, TimeoutError, RuntimeError) as problem:
            raise BusError(f"not connected: {type(problem).__name__}") from problem
        return self._connections

    async def publish(
        self, message: Message, queue: Queue = EVENT_LOG, *, by_old_queue: bool = False
    ) -> None:
        if by_old_queue:
            # Its consumers may be older than batches.
            direct = self._service is None
            await self._send(("" if direct else queue.exchange, queue.name), [message])
        elif queue.partitioned:
            key = queue.partition(message.bucket % self.partitions)
            await self._batches.publish((queue.exchange, key), message)
        else:
            await self._batches.publish((queue.exchange, queue.name), message)

    async def _send(self, destination: Destination, messages: Sequence[Message]) -> None:
        exchange, key = destination
        try:
            # publish(timeout=…) does not cover everything that can hang: this does.
            async with asyncio.timeout(self.confirm_timeout):
                exchanges = await self._publishing()
                wrapped = wrap(messages[0]) if len(messages) == 1 else wrap_batch(messages)
                async with self._watching_refusals(key):
                    await exchanges[exchange].publish(wrapped, routing_key=key, mandatory=True)
        except TimeoutError:
            await self._drop()
            raise BusError(f"no confirm within {self.confirm_timeout:g} s") from None
        except PublishError as problem:
            # The queue and its messages are gone: the next connection declares it again.
            await self._drop()
            raise Unroutable(f"{key} is gone from the broker") from problem
        except DeliveryError as problem:
            raise BusError(f"the broker refused a message to {key}") from problem
        except (AMQPError, OSError, RuntimeError) as problem:
            raise BusError(f"not confirmed: {type(problem).__name__}") from problem

    async def subscribe(self, queue: Queue, handler: Handler, *, batch: int = 1) -> None:
        consumer = Consumer(
            self.url, queue, handler, batch, self._acknowledgements.add, declares=self._declares
        )
        self._consumers[queue.name] = consumer
        if not queue.partitioned:
            consumer.want(frozenset({queue.name}))
        elif self._declares:
            self._topology.start()
        await consumer.start()

    def assign(self, queue: Queue, partitions: frozenset[int]) -> None:
        self._topology.is_ours = 0 in partitions or not partitions
        names = {queue.partition(number) for number in partitions}
        # One of the replicas also empties the single queue of the version before partitions.
        self._consumers[queue.name].want(frozenset(names | ({queue.name} if 0 in partitions else set())))

    def lost_seconds(self, queue: Queue) -> float:
        return self._consumers[queue.name].lost_seconds()

    async def on_acknowledged(self, source: str, settle: Settle) -> None:
        async def handle(messages: Sequence[Message]) -> None:
            await settle([one for message in messages for one in readable_acknowledgements(message.body)])

        queue = acknowledgements_of(source)
        consumer = Consumer(self.url, queue, handle, 20, self._acknowledgements.add)
        consumer.want(frozenset({queue.name}))
        self._acknowledged.append(consumer)
        # Not awaited and not part of `problem`: without a broker a producer still accepts requests.
        consumer.begin()

    async def depth(self, queue: Queue) -> QueueDepth:
        async with short_channel(self.url) as channel:
            return await queue_depth(channel, queue, self.partitions)

    def lists_parked(self, queue: Queue) -> bool:
        return self._service is None or allows(self._service, "read", queue.parked)

    async def parked(self, queue: Queue, limit: int) -> list[ParkedMessage]:
        async with short_channel(self.url) as channel:
            return await list_parked(channel, queue, limit)

    async def requeue(self, queue: Queue, ids: frozenset[str] | None = None) -> int:
        async with short_channel(self.url) as channel:
            return await requeue_parked(channel, queue, self.partitions, ids)

    def problem(self) -> str | None:
        if self._mismatch:
            return self._mismatch
        return next((text for one in self._consumers.values() if (text := one.problem())), None)

    async def close(self) -> None:
        await self._topology.stop()
        for consumer in (*self._consumers.values(), *self._acknowledged):
            await consumer.stop()
        await self._acknowledgements.close()
        await self._batches.close()
        await self._drop()

    async def _send_acknowledgements(self, source: str, done: Sequence[Acknowledgement]) -> None:
        """Fails if there is no such queue. That is no reason for a new connection: its owner declares it."""
        async with asyncio.timeout(self.confirm_timeout):
            exchange = (await self._publishing())[""]
            queue = acknowledgements_of(source)
            if not self._declares:
                assert self._channel is not None
                exchange = await self._channel.get_exchange(queue.exchange, ensure=False)
            message = wrap(Message("", "acknowledgements", encode(list(done))))
            async with self._watching_refusals(queue.name):
                await exchange.publish(message, routing_key=queue.name, mandatory=True)

    @contextlib.asynccontextmanager
    async def _watching_refusals(self, key: str) -> AsyncIterator[None]:
        try:
            yield
        except PublishError:
            raise  # there is no such queue
        except DeliveryError:
            if self._refusals.refused(key):
                await self._drop()
            raise
        self._refusals.confirmed(key)

    async def _publishing(self) -> dict[str, AbstractExchange]:
        if self._exchanges and self._channel is not None and not self._channel.is_closed:
            return self._exchanges
        async with self._connecting:
            if self._exchanges and self._channel is not None and not self._channel.is_closed:
                return self._exchanges
            if time.monotonic() - self._failed_at < QUIET_SECONDS:
                raise BusError("the broker was out of reach a moment ago")
            await self._drop()
            try:
                self._connection = await open_connection(self.url)
                self._channel = await self._connection.channel(publisher_confirms=True, on_return_raises=True)
                await refuse_old_broker(self._channel)
                if self._declares:
                    self._exchanges = await declare_all(self._channel, self.queues, self.partitions)
                else:
                    self._exchanges = await expect_event_log(self._channel, self.partitions)
                self.has_old_queue = await found_old_queues(
                    self._connection,
                    self._channel,
                    self.queues,
                    bind=self._declares and self._service is not None,
                )
            except BaseException as problem:
                self._mismatch = str(problem) if isinstance(problem, QueueMismatch) else None
                self._failed_at = time.monotonic()
                await self._drop()
                raise
            self._mismatch = None
            self._connections += 1
            return self._exchanges

    async def _declare_again(self) -> None:
        await self._publishing()
        assert self._connection is not None
        async with self._connection.channel() as channel:
            own = [consumer.queue for consumer in self._acknowledged if consumer.queue.exchange]
            await declare_all(channel, [*self.queues, *own], self.partitions)
            if self.has_old_queue:
                self.has_old_queue = await found_old_queues(
                    self._connection, channel, self.queues, bind=self._service is not None
                )

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._channel, self._exchanges = None, {}
        await close_quietly(connection)
