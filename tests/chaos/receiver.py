"""A partner's server on a plain socket: records everything and can send broken responses."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

from msgspec import Struct

from tests.chaos.link import abort

Manner = Literal["ok", "late", "half", "unasked", "reset", "error"]
# Well below the dispatcher's timeout, so that it counts as a success.
LATE_SECONDS = 5.0
ACCEPTED: frozenset[Manner] = frozenset({"ok", "late", "half"})
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok"
# An unrequested response: a client that takes it as the next request's response records a success.
ERROR = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"


class Post(Struct, frozen=True):
    path: str
    headers: dict[str, str]
    body: bytes


# The endpoint, what it got, and whether it is about to answer 200.
Note = Callable[[str, Post, bool], None]


class ChaosReceiver:
    def __init__(self, name: str, note: Note) -> None:
        self.name = name
        self.note = note
        self.manner: Manner = "ok"
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                post = await _read_post(reader)
                manner = self.manner
                self.note(self.name, post, manner in ACCEPTED)
                if not await _response(writer, manner):
                    break
        self._tasks.discard(task)
        writer.close()

    def close_connections(self) -> None:
        for task in list(self._tasks):
            task.cancel()


async def _response(writer: asyncio.StreamWriter, manner: Manner) -> bool:
    """Whether to keep the connection open."""
    match manner:
        case "ok":
            writer.write(OK)
        case "late":
            await asyncio.sleep(LATE_SECONDS)
            writer.write(OK)
        case "half":
            writer.write(OK[:-1])
            await writer.drain()
            return False
        case "unasked":
            writer.write(ERROR + OK)
        case "error":
            writer.write(ERROR)
        case "reset":
            abort(writer)
            return False
    await writer.drain()
    return True


async def _read_post(reader: asyncio.StreamReader) -> Post:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")[:-2]
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Post(first.split()[1], headers, await reader.readexactly(int(headers["content-length"])))


@asynccontextmanager
async def receiving(name: str, note: Note) -> AsyncIterator[ChaosReceiver]:
    receiver = ChaosReceiver(name, note)
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, backlog=512)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        receiver.close_connections()
