"""A TCP proxy that simulates a network link and its failures."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

REQUESTS, RESPONSES = "requests", "responses"
BOTH = frozenset({REQUESTS, RESPONSES})
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Link:
    """From one process to one port. A held direction buffers its bytes, as TCP does until packets pass."""

    def __init__(self, name: str, target_port: int) -> None:
        self.name = name
        self.target_port = target_port
        self.port = 0
        self.delay = 0.0
        self._held: frozenset[str] = frozenset()
        self._resetting = False
        self._released = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._writers: dict[asyncio.StreamWriter, str] = {}
        self._connections: set[asyncio.Task[None]] = set()

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    def refuse(self) -> None:
        """Stops listening and closes open connections."""
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.close()

    def reset(self) -> None:
        """Every connection is reset, and each new one too, until `heal`."""
        self._resetting = True
        for writer in list(self._writers):
            abort(writer)

    def hold(self, directions: frozenset[str]) -> None:
        self._released.clear()
        self._held = directions

    def half_close(self, direction: str) -> None:
        """Closes one direction of each open connection."""
        for writer, carries in list(self._writers.items()):
            if carries == direction and writer.can_write_eof() and not writer.is_closing():
                with contextlib.suppress(OSError, RuntimeError):
                    writer.write_eof()

    async def heal(self) -> None:
        self.delay = 0.0
        self._resetting = False
        self._held = frozenset()
        self._released.set()
        if self._server is None or not self._server.is_serving():
            await self.listen()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._connect(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._resetting:
            abort(writer)
            return
        await self._passable(REQUESTS)
        inside_reader, inside_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        self._writers |= {inside_writer: REQUESTS, writer: RESPONSES}
        try:
            await asyncio.gather(
                self._pump(reader, inside_writer, REQUESTS), self._pump(inside_reader, writer, RESPONSES)
            )
        finally:
            for each in (inside_writer, writer):
                self._writers.pop(each, None)
                each.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, direction: str) -> None:
        try:
            while part := await reader.read(65536):
                await self._passable(direction)
                writer.write(part)
                await writer.drain()
            await self._passable(direction)
            if not writer.is_closing():
                writer.write_eof()
        except (OSError, RuntimeError):
            writer.close()

    async def _passable(self, direction: str) -> None:
        if self.delay:
            await asyncio.sleep(self.delay)
        while direction in self._held:
            await self._released.wait()


def abort(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    if connection is not None:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    writer.transport.abort()


@asynccontextmanager
async def linked(name: str, target_port: int) -> AsyncIterator[Link]:
    link = Link(name, target_port)
    await link.listen()
    try:
        yield link
    finally:
        await link.close()
