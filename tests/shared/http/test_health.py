"""Readiness, and a graceful shutdown that cuts off no request and closes no connection still in use."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from shared.http.asgi import Receive, Scope, Send
from shared.http.health import Check, OptionalCheck
from shared.http.server import Address, Draining, Listener, listening
from shared.http.service import health_routes
from shared.servers.ports import free_port
from tests.harness.raw_http import RawConnection, connect


async def _readiness(checks: dict[str, Check]) -> tuple[int, str]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    nothing: Any = None
    await health_routes(checks)["/health/ready"]({"headers": []}, nothing, send)
    return sent[0]["status"], json.loads(sent[1]["body"])["status"]


async def _ok() -> str | None:
    return None


async def _unavailable() -> str | None:
    return "the database does not answer"


async def test_an_optional_part_degrades_readiness_and_keeps_the_requests() -> None:
    """While the broker is down bookings continue, so the cluster must keep sending requests here."""
    trouble: list[str | None] = [None]
    checks: dict[str, Check] = {"database": _ok, "bus": OptionalCheck(lambda: trouble[0])}
    assert await _readiness(checks) == (200, "ready")
    trouble[0] = "not connected"
    assert await _readiness(checks) == (200, "degraded")
    assert await _readiness({**checks, "database": _unavailable}) == (503, "not_ready")
    never: Check = OptionalCheck(lambda: "not connected")
    assert await _readiness({"bus": never}) == (503, "not_ready"), "a rollout with a wrong address stops"


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


async def ask(connection: RawConnection, path: str) -> tuple[int, str | None, bytes]:
    """The status, what is said about the connection, and the body."""
    await connection.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    status, headers, body = await connection.reply()
    return status, headers.get("connection"), body


@asynccontextmanager
async def serving(app: SlowApp) -> AsyncIterator[tuple[str, Draining]]:
    port = free_port()
    async with listening([Listener(Address("test", "127.0.0.1", port), app)]) as draining:
        yield f"http://127.0.0.1:{port}", draining


async def test_a_request_that_runs_is_answered_before_the_server_stops() -> None:
    """Leaving the block waits for it, however the process was told to stop."""
    app = SlowApp()
    async with serving(app) as (url, _):
        client = await connect(url)
        response = asyncio.create_task(ask(client, "/slow"))
        await app.came.wait()
        asyncio.get_running_loop().call_later(0.3, app.go_on.set)
    assert await response == (200, None, b"ok")


async def test_while_draining_answers_go_on_and_ask_for_a_new_connection() -> None:
    """A client that reuses its old connection is still served, and then closes it. Readiness says no."""
    async with serving(SlowApp()) as (url, draining):
        client, probe = await connect(url), await connect(url)
        assert await ask(client, "/") == (200, None, b"ok")
        assert (await ask(probe, "/health/ready"))[0] == 200
        drained = asyncio.create_task(draining.drain(0.5))
        await asyncio.sleep(0.1)
        status, _, body = await ask(probe, "/health/ready")
        assert status == 503 and b"stopping" in body
        assert await ask(client, "/") == (200, "close", b"ok")
        assert await client.reader.read(1) == b""
        late = await connect(url)
        assert (await ask(late, "/"))[2] == b"ok"
        await drained


async def test_the_wait_for_idle_connections_starts_after_the_last_old_request() -> None:
    """Its answer kept the connection open, so the client needs the full wait from then on."""
    app = SlowApp()
    async with serving(app) as (url, draining):
        client = await connect(url)
        response = asyncio.create_task(ask(client, "/slow"))
        await app.came.wait()
        drained = asyncio.create_task(draining.drain(0.3))
        await asyncio.sleep(0.4)
        app.go_on.set()
        assert await response == (200, None, b"ok")
        assert await ask(client, "/") == (200, "close", b"ok")
        await drained
