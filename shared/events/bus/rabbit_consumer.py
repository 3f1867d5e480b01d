"""A queue's consumer on its own connection: on any trouble it closes what is concerned and starts over."""

import asyncio
import contextlib
import random
import time
from collections.abc import Sequence
from typing import Any

import msgspec
import structlog
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from pamqp import commands

from shared.background import Backoff, end_tasks, no_stray_cancellation
from shared.events.bus import Batch, BusError, Ready, batch_decoder, encode_message
from shared.events.bus.broker import close_quietly, declare, declare_all, expect, open_connection
from shared.events.bus.intake import Intake

log = structlog.get_logger("bus")

# How many batches of a partition the broker hands over before the first of them is acknowledged. Partitions
# are served in the order of arrival, so this is also each one's share.
PREFETCH = 8
# How many batches are handled at once.
AT_ONCE = 32
# A consumer may be silently dead, a queue or binding deleted: we look, not at all partitions at once (15 ms).
WATCH_SECONDS = 5.0


class Arrived(msgspec.Struct, frozen=True):
    channel: AbstractChannel
    message: AbstractIncomingMessage
    batch: Batch


class Consumer:
    def __init__(self, url: str, intake: Intake, ready: Ready, *, declares: bool) -> None:
        self.url = url
        self.queue = intake.queue
        self._intake = intake
        self._ready = ready
        self._declares = declares
        self._find = declare if declares else expect
        self._wanted = self.queue.all_partitions if self.queue.partitions == 1 else frozenset[int]()
        self._reassigned = asyncio.Event()
        self._arrived: asyncio.Queue[Arrived] = asyncio.Queue()
        self._failures: dict[int, str] = {}
        self._trouble: str | None = "not connected yet"
        self._lost_at: float | None = time.monotonic()
        # In the background: the broker may start later.
        self._task = asyncio.create_task(self._run(), name=f"bus:{self.queue.name}")

    def assign(self, partitions: frozenset[int]) -> None:
        if partitions != self._wanted:
            self._wanted = partitions
            self._reassigned.set()

    async def stop(self) -> None:
        await end_tasks([self._task])

    def problem(self) -> str | None:
        if self._task.done():
            return f"the consumer of {self.queue.name} has ended"
        if self._trouble:
            return f"the consumer of {self.queue.name} is {self._trouble}"
        for number in sorted(self._failures.keys() & self._wanted):
            return f"{self.queue.partition(number)} cannot be consumed: {self._failures[number]}"
        return None

    def lost_seconds(self) -> float:
        return 0.0 if self._lost_at is None else time.monotonic() - self._lost_at

    async def _run(self) -> None:
        backoff = Backoff()
        while True:
            try:
                await self._ready()
                with no_stray_cancellation():
                    await self._consume(backoff)
            except Exception as problem:
                self._trouble = f"not connected: {problem or type(problem).__name__}"
                self._lost_at = self._lost_at or time.monotonic()
                log.warning("consumer_lost", queue=self.queue.name, error=str(problem) or repr(problem))
            await backoff.pause()

    async def _consume(self, backoff: Backoff) -> None:
        self._arrived = asyncio.Queue()
        connection = await open_connection(self.url)
        parts: list[asyncio.Task[None]] = []
        try:
            replies = await connection.channel(publisher_confirms=False)
            if self._declares:
                await declare_all(replies)
            parts = [
                asyncio.create_task(self._follow_assignment(connection), name=f"follow:{self.queue.name}"),
                asyncio.create_task(self._handle(replies), name=f"handle:{self.queue.name}"),
                asyncio.create_task(_closed(connection, replies), name=f"watch:{self.queue.name}"),
            ]
            self._trouble = self._lost_at = None
            backoff.reset()
            done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            # First the connection: the broker hands its messages to another replica at once.
            await close_quietly(connection)
            await end_tasks(parts)

    async def _follow_assignment(self, connection: AbstractConnection) -> None:
        """One task and channel per partition: a queue that cannot be consumed does not stop the others."""
        tasks: dict[int, asyncio.Task[None]] = {}
        try:
            while True:
                self._reassigned.clear()
                for number in self._wanted - tasks.keys():
                    tasks[number] = asyncio.create_task(self._subscribe(connection, number))
                for number in tasks.keys() - self._wanted:
                    await end_tasks([tasks.pop(number)])
                await self._reassigned.wait()
        finally:
            await end_tasks(tasks.values())

    async def _subscribe(self, connection: AbstractConnection, number: int) -> None:
        backoff = Backoff()
        while True:
            try:
                await self._keep_subscribed(connection, number, backoff)
            except Exception as problem:
                self._failures[number] = str(problem) or type(problem).__name__
                log.warning(
                    "queue_not_consumed", queue=self.queue.partition(number), error=self._failures[number]
                )
            await backoff.pause()

    async def _keep_subscribed(self, connection: AbstractConnection, number: int, backoff: Backoff) -> None:
        async with asyncio.timeout(WATCH_SECONDS):
            channel = await connection.channel(publisher_confirms=False)
        try:
            async with asyncio.timeout(WATCH_SECONDS):
                await channel.set_qos(prefetch_count=PREFETCH)
                queue = await self._find(channel, self.queue, number)

                async def receive(message: AbstractIncomingMessage) -> None:
                    try:
                        batch = batch_decoder.decode(message.body)
                    except msgspec.DecodeError as problem:
                        log.error("batch_unreadable", queue=self.queue.partition(number), error=str(problem))
                        await message.ack()
                        return
                    self._arrived.put_nowait(Arrived(channel, message, batch))

                await queue.consume(receive)
            self._failures.pop(number, None)
            while True:
                await asyncio.sleep(WATCH_SECONDS * random.uniform(0.7, 1.3))
                async with asyncio.timeout(WATCH_SECONDS):
                    found = await self._find(channel, self.queue, number)
                if not found.declaration_result.consumer_count:
                    raise BusError("the broker knows no consumer of ours")
                backoff.reset()
        finally:
            # Messages that are not acknowledged go back to the queue, and another replica may have them.
            await close_quietly(channel)

    async def _handle(self, replies: AbstractChannel) -> None:
        """Store, reply, acknowledge. An exception ends the connection."""
        underlay: Any = await replies.get_underlay_channel()
        while True:
            arrived = [await self._arrived.get()]
            while len(arrived) < AT_ONCE and not self._arrived.empty():
                arrived.append(self._arrived.get_nowait())
            # Messages of a channel that was closed come again.
            arrived = [one for one in arrived if not one.channel.is_closed]
            for one, reply in zip(
                arrived, await self._intake.take([one.batch for one in arrived]), strict=True
            ):
                if one.message.reply_to:
                    await underlay.basic_publish(
                        encode_message(reply),
                        exchange=self.queue.replies,
                        routing_key=one.message.reply_to,
                        properties=commands.Basic.Properties(delivery_mode=1),
                        wait=False,
                    )
            await _acknowledge(arrived)


async def _acknowledge(arrived: Sequence[Arrived]) -> None:
    """Up to the last message of each channel."""
    last = {id(one.channel): one for one in arrived}
    for one in last.values():
        with contextlib.suppress(Exception):
            # If its channel was closed, the messages come again, and are known.
            await one.message.ack(multiple=True)


async def _closed(connection: AbstractConnection, replies: AbstractChannel) -> None:
    lost = asyncio.Event()
    connection.close_callbacks.add(lambda *_: lost.set(), weak=False)
    replies.close_callbacks.add(lambda *_: lost.set(), weak=False)
    if not connection.is_closed and not replies.is_closed:
        await lost.wait()
    raise BusError("the connection was closed")
