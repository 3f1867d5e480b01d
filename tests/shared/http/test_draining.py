"""Graceful shutdown: no request is cut off, and no connection is closed that a client is about to reuse."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.http.asgi import Receive, Scope, Send
from shared.http.server import Address, Draining, Listener, listening
from shared.servers.ports import free_port


class SlowApp:
    """Answers when the test releases it."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.came = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.came.set()
        if scope.get("path") == "/slow":
            await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok", "more_body": False})


class Client:
    """One keep-alive connection, so that the test can see when it closes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def connect(cls, port: int) -> "Client":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, path: str) -> bytes:
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return await self.answer()

    async def answer(self) -> bytes:
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return head.lower() + await self.reader.readexactly(length)

    async def is_closed(self) -> bool:
        return await self.reader.read(1) == b""


@asynccontextmanager
async def serving(app: SlowApp) -> AsyncIterator[tuple[int, Draining]]:
    port = free_port()
    async with listening([Listener(Address("test", "127.0.0.1", port), app)]) as draining:
        yield port, draining


async def test_a_request_that_runs_is_answered_before_the_server_stops() -> None:
    """Leaving the block waits for it, however the process was told to stop."""
    app = SlowApp()
    async with serving(app) as (port, _):
        client = await Client.connect(port)
        response = asyncio.create_task(client.ask("/slow"))
        await app.came.wait()
        asyncio.get_running_loop().call_later(0.3, app.go_on.set)
    assert (await response).endswith(b"ok")


async def test_while_draining_answers_go_on_and_ask_for_a_new_connection() -> None:
    """A client that reuses its old connection is still served, and then closes it."""
    app = SlowApp()
    async with serving(app) as (port, draining):
        client = await Client.connect(port)
        assert b"connection: close" not in await client.ask("/")
        drained = asyncio.create_task(draining.drain(0.5))
        await asyncio.sleep(0.1)
        assert b"connection: close" in await client.ask("/")
        assert await client.is_closed()
        late = await Client.connect(port)
        assert (await late.ask("/")).endswith(b"ok")
        await drained


async def test_readiness_says_no_as_soon_as_draining_starts() -> None:
    """New connections go to another replica from then on."""
    async with serving(SlowApp()) as (port, draining):
        client = await Client.connect(port)
        assert (await client.ask("/health/ready")).startswith(b"http/1.1 200")
        drained = asyncio.create_task(draining.drain(0.2))
        await asyncio.sleep(0.05)
        answer = await client.ask("/health/ready")
        assert answer.startswith(b"http/1.1 503") and b"stopping" in answer
        await drained


async def test_the_wait_for_idle_connections_starts_after_the_last_old_request() -> None:
    """Its answer kept the connection open, so the client needs the full wait from then on."""
    app = SlowApp()
    async with serving(app) as (port, draining):
        client = await Client.connect(port)
        response = asyncio.create_task(client.ask("/slow"))
        await app.came.wait()
        drained = asyncio.create_task(draining.drain(0.3))
        await asyncio.sleep(0.4)
        app.go_on.set()
        assert b"connection: close" not in await response
        assert b"connection: close" in await client.ask("/")
        await drained
