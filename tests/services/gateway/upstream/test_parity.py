"""The gateway sees no difference between a service over granian and one in process."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any

import pytest
from granian.constants import Interfaces
from granian.server.embed import Server

from services.gateway.upstream import AsgiUpstream, HttpUpstream, NotReached, OutcomeUnknown, Upstream
from shared.http.asgi import ASGIApp

LOG_FIELD: ContextVar[str] = ContextVar("LOG_FIELD", default="none")
PART = b"x" * 65536


async def app(scope: Any, receive: Any, send: Any) -> None:
    """A service with one path for each thing that a service does, or does wrong."""
    body = (await receive())["body"]
    path, status = scope["path"], 200
    if path == "/raises":
        raise RuntimeError("on purpose")
    if path == "/silent":
        return
    if path == "/sleeps":
        await asyncio.sleep(6)
    if path.startswith("/status/"):
        status = int(path.removeprefix("/status/"))
    headers = [(b"X-Two", b"1"), (b"x-two", b"2"), (b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if path in ("/long", "/breaks"):
        for _ in range(100):
            await send({"type": "http.response.body", "body": PART, "more_body": True})
    if path == "/breaks":
        raise RuntimeError("on purpose")
    if path == "/parts":
        for part in (b"a", b"", b"b"):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body"})
        return
    if path == "/echo é":
        seen = [
            LOG_FIELD.get(),
            scope["method"],
            scope["query_string"],
            body,
            dict(scope["headers"]).get(b"x-caller"),
        ]
        body = repr(seen).encode()
    await send({"type": "http.response.body", "body": b"" if status in (204, 304) else body})


@asynccontextmanager
async def over_granian(app: ASGIApp) -> AsyncIterator[Upstream]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = Server(app, address="127.0.0.1", port=port, interface=Interfaces.ASGINL, log_enabled=False)
    serving = asyncio.create_task(server.serve())
    upstream = HttpUpstream(f"http://127.0.0.1:{port}", response_timeout=0.5)
    async with asyncio.timeout(10):
        while True:
            with suppress(NotReached):
                await upstream.request(b"GET", b"/", [], b"")
                break
            await asyncio.sleep(0.02)
    yield upstream
    await upstream.close()
    server.stop()  # type: ignore[no-untyped-call]
    await serving


@asynccontextmanager
async def in_process(app: ASGIApp) -> AsyncIterator[Upstream]:
    upstream = AsgiUpstream(app, response_timeout=0.5)
    yield upstream
    await upstream.close()


@pytest.fixture(params=[over_granian, in_process], ids=["granian", "in process"])
async def upstream(request: pytest.FixtureRequest) -> AsyncIterator[Upstream]:
    async with request.param(app) as opened:
        yield opened


async def test_the_service_sees_the_request_as_it_was_sent(upstream: Upstream) -> None:
    """Method, decoded path, raw query, body and headers; and nothing of the gateway's own context."""
    LOG_FIELD.set("the gateway's")
    response = await upstream.request(b"POST", b"/echo%20%C3%A9?a=%20", [(b"X-Caller", b"c")], b'{"a":1}')
    assert response.body == repr(["none", "POST", b"a=%20", b'{"a":1}', b"c"]).encode()
    twice = [value for name, value in response.headers if name == b"x-two"]
    assert twice == [b"1", b"2"]


@pytest.mark.parametrize(
    ("method", "target", "status", "body"),
    [
        (b"GET", b"/parts", 200, b"ab"),
        (b"HEAD", b"/parts", 200, b""),
        (b"POST", b"/status/201", 201, b"{}"),
        (b"DELETE", b"/status/204", 204, b""),
        (b"GET", b"/status/304", 304, b""),
        (b"GET", b"/status/409", 409, b""),
    ],
)
async def test_an_answer_comes_whole(
    upstream: Upstream, method: bytes, target: bytes, status: int, body: bytes
) -> None:
    """Status and body are the service's own, in one piece, and the next request is not disturbed."""
    for _ in range(2):
        response = await upstream.request(method, target, [], b"{}" if method == b"POST" else b"")
        assert (response.status, response.body) == (status, body)
        assert (b"content-type", b"text/plain") in response.headers
        assert all(name == name.lower() for name, _ in response.headers)


async def test_a_long_answer_comes_whole_too(upstream: Upstream) -> None:
    """However many parts the service sends."""
    assert (await upstream.request(b"GET", b"/long", [], b"")).body == 100 * PART


@pytest.mark.parametrize("target", [b"/raises", b"/silent"])
async def test_a_service_that_fails_before_it_answers_is_a_500(upstream: Upstream, target: bytes) -> None:
    """The server answers in its place."""
    assert (await upstream.request(b"POST", target, [], b"")).status == 500


async def test_a_service_that_takes_too_long_leaves_the_outcome_unknown(upstream: Upstream) -> None:
    """It may have done its work, but nobody waits for it."""
    async with asyncio.timeout(5):
        with pytest.raises(OutcomeUnknown):
            await upstream.request(b"POST", b"/sleeps", [], b"")


async def test_a_caller_that_goes_away_does_not_disturb_the_next(upstream: Upstream) -> None:
    """Its answer is dropped with it."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await upstream.request(b"POST", b"/sleeps", [], b"")
    assert (await upstream.request(b"POST", b"/", [], b"mine")).body == b"mine"


async def test_a_second_header_cannot_be_smuggled_in(upstream: Upstream) -> None:
    """In process nothing is parsed again; still, what is refused does not depend on how a service is run."""
    for target, value in ((b"/", b"a\r\nx-caller: forged"), (b"/\r\n", b"a")):
        with pytest.raises(ValueError):
            await upstream.request(b"GET", target, [(b"x", value)], b"")


async def test_a_closed_way_reaches_nothing(upstream: Upstream) -> None:
    """After close, nothing is sent."""
    await upstream.close()
    with pytest.raises(NotReached):
        await upstream.request(b"GET", b"/", [], b"")


async def test_a_long_answer_that_breaks_off_in_process_is_not_taken_for_whole() -> None:
    """As on a connection that closes early."""
    async with in_process(app) as upstream:
        with pytest.raises(OutcomeUnknown):
            await upstream.request(b"GET", b"/breaks", [], b"")


@pytest.mark.parametrize("steps", range(4))
async def test_closing_in_process_leaves_no_caller_waiting(steps: int) -> None:
    """Whether begun or not: a task that is cancelled before its first step runs no cleanup."""
    upstream = AsgiUpstream(app)
    call = asyncio.create_task(upstream.request(b"POST", b"/sleeps", [], b""))
    for _ in range(steps):
        await asyncio.sleep(0)
    await upstream.close()
    async with asyncio.timeout(2):
        with pytest.raises((OutcomeUnknown, NotReached)):
            await call
