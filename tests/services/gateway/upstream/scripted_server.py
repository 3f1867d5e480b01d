"""A server that misbehaves on purpose: the n-th connection follows the n-th script, the last one repeats."""

import asyncio
import re
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from services.gateway.upstream import HttpUpstream

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Peer:
    """The server's end of one connection."""

    def __init__(
        self, server: "Scripted", reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server = server
        self._reader = reader
        self.writer = writer

    async def request(self) -> bytes:
        """The next whole request, which the server also remembers."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        body = await self._reader.readexactly(int(length[1])) if length else b""
        self._server.requests.append(head + body)
        self._server.arrived.release()
        return head + body

    async def begun(self) -> None:
        """Returns with the first byte of a request."""
        await self._reader.readexactly(1)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def response(self, data: bytes = OK) -> None:
        await self.request()
        await self.send(data)

    async def closed(self) -> None:
        """Returns when the client has closed."""
        with suppress(ConnectionError):
            while await self._reader.read(65536):
                pass
        self._server.left.release()

    def reset(self) -> None:
        linger = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()


Script = Callable[[Peer], Awaitable[None]]


class Scripted:
    def __init__(self, scripts: tuple[Script, ...]) -> None:
        self._scripts = scripts
        self.url = ""
        self.port = 0
        self.connections = 0
        self.requests: list[bytes] = []
        self.arrived = asyncio.Semaphore(0)  # released for each whole request
        self.left = asyncio.Semaphore(0)  # released for each client that `Peer.closed` saw go

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        script = self._scripts[min(self.connections, len(self._scripts) - 1)]
        self.connections += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await script(Peer(self, reader, writer))
        finally:
            writer.close()


@asynccontextmanager
async def scripted(*scripts: Script, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Scripted]:
    played = Scripted(scripts)
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(played(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, host, port)
    played.port = server.sockets[0].getsockname()[1]
    played.url = f"http://{host}:{played.port}"
    try:
        yield played
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def upstream_to(*scripts: Script, **options: Any) -> AsyncIterator[tuple[Scripted, HttpUpstream]]:
    """A server that follows the scripts, and a pool of connections to it."""
    async with scripted(*scripts) as server:
        upstream = HttpUpstream(server.url, **options)
        yield server, upstream
        await upstream.close()


async def well_behaved(peer: Peer) -> None:
    while True:
        await peer.response()


async def silent(peer: Peer) -> None:
    await peer.request()
    await peer.closed()


def answering(data: bytes) -> Script:
    """Gives the same answer to every request."""

    async def script(peer: Peer) -> None:
        while True:
            await peer.response(data)

    return script


def answering_then_closing(data: bytes) -> Script:
    async def script(peer: Peer) -> None:
        await peer.response(data)

    return script
