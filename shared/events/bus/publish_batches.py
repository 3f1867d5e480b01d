"""Messages published at the same moment to the same queue travel as one message of the broker.

A message costs the broker and its clients far more than the event in it. Under load an event shares that cost
with others; alone it is sent at once and as it is. Every publisher still waits for its own confirm.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

import msgspec

from shared.background import end_tasks
from shared.events.bus.protocol import BusError, Message

# How many events a message of the broker holds, and how many bytes if it holds more than one.
MOST_EVENTS = 32
MOST_BYTES = 64 * 1024
CONTENT_TYPE = "application/msgpack"

Destination = tuple[str, str]
Send = Callable[[Destination, Sequence[Message]], Awaitable[None]]
Waiting = list[tuple[Message, "asyncio.Future[None]"]]

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Message])


def pack(messages: Sequence[Message]) -> bytes:
    return _encoder.encode(messages)


def unpack(body: bytes) -> list[Message]:
    """Raises msgspec.DecodeError."""
    return _decoder.decode(body)


class BatchPublisher:
    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: dict[Destination, Waiting] = {}
        self._sending: set[asyncio.Task[None]] = set()

    async def publish(self, destination: Destination, message: Message) -> None:
        """Returns once the broker has the message. Raises what `send` raises."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.get(destination)
        if waiting is None:
            # The task starts after everything that is ready to run now, so that this can join.
            waiting = self._waiting[destination] = []
            task = asyncio.create_task(self._flush(destination))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        waiting.append((message, done))
        await done

    async def close(self) -> None:
        await end_tasks(self._sending)
        for waiting in self._waiting.values():
            _finish(waiting, BusError("the bus was closed"))
        self._waiting.clear()

    async def _flush(self, destination: Destination) -> None:
        batches = list(_split(self._waiting.pop(destination)))
        if len(batches) == 1:
            await self._send_batch(destination, batches[0])
        else:
            await asyncio.gather(*(self._send_batch(destination, batch) for batch in batches))

    async def _send_batch(self, destination: Destination, batch: Waiting) -> None:
        try:
            await self._send(destination, [message for message, _ in batch])
        except asyncio.CancelledError:
            _finish(batch, BusError("the bus was closed"))
            raise
        except Exception as problem:
            _finish(batch, problem)
        else:
            _finish(batch, None)


def _finish(batch: Waiting, failure: Exception | None) -> None:
    for _, done in batch:
        if done.done():
            # The publisher did not want to wait any longer.
            continue
        if failure is None:
            done.set_result(None)
        else:
            done.set_exception(failure)


def _split(waiting: Waiting) -> Iterator[Waiting]:
    batch: Waiting = []
    size = 0
    for message, done in waiting:
        if batch and (len(batch) == MOST_EVENTS or size + len(message.body) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((message, done))
        size += len(message.body)
    yield batch
