"""A service in the gateway's own process is forwarded to as if it were behind a connection."""

import asyncio
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

import pytest

from services.gateway.upstream import AsgiUpstream, NotReached, OutcomeUnknown

LOG_FIELD: ContextVar[str] = ContextVar("LOG_FIELD", default="none")


async def app(scope: Any, receive: Any, send: Any) -> None:
    """A service with one path for each thing that a service does, or does wrong."""
    body = (await receive())["body"]
    path = scope["path"]
    if path == "/raises":
        raise RuntimeError("on purpose")
    if path == "/silent":
        return
    if path == "/sleeps":
        await asyncio.sleep(6)
    status = int(path.removeprefix("/status/")) if path.startswith("/status/") else 200
    await send(
        {"type": "http.response.start", "status": status, "headers": [(b"X-Two", b"1"), (b"x-two", b"2")]}
    )
    for part in (b"a", b"", b"b") if path in ("/parts", "/breaks") else ():
        await send({"type": "http.response.body", "body": part, "more_body": True})
    if path == "/breaks":
        raise RuntimeError("on purpose")
    if path == "/echo é":
        caller = dict(scope["headers"])[b"x-caller"]
        body = repr([LOG_FIELD.get(), scope["method"], scope["query_string"], body, caller]).encode()
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def upstream() -> AsyncIterator[AsgiUpstream]:
    opened = AsgiUpstream(app, response_timeout=0.5)
    yield opened
    await opened.close()


async def test_the_service_sees_the_request_as_it_was_sent(upstream: AsgiUpstream) -> None:
    """Method, decoded path, raw query, body and headers; and nothing of the gateway's own context."""
    LOG_FIELD.set("the gateway's")
    response = await upstream.request(b"POST", b"/echo%20%C3%A9?a=%20", [(b"X-Caller", b"c")], b'{"a":1}')
    assert response.body == repr(["none", "POST", b"a=%20", b'{"a":1}', b"c"]).encode()
    assert [value for name, value in response.headers if name == b"x-two"] == [b"1", b"2"]


@pytest.mark.parametrize(
    ("method", "target", "status", "body"),
    [
        (b"GET", b"/parts", 200, b"ab"),
        (b"HEAD", b"/parts", 200, b""),
        (b"POST", b"/status/204", 204, b""),
        # The server answers in the place of a service that fails before it does.
        (b"POST", b"/raises", 500, b""),
        (b"POST", b"/silent", 500, b""),
    ],
)
async def test_an_answer_comes_whole(
    upstream: AsgiUpstream, method: bytes, target: bytes, status: int, body: bytes
) -> None:
    """However many parts the service sends."""
    response = await upstream.request(method, target, [], b"{}" if target == b"/status/204" else b"")
    assert (response.status, response.body) == (status, body)


@pytest.mark.parametrize("target", [b"/sleeps", b"/breaks"])
async def test_an_answer_that_does_not_come_whole_leaves_the_outcome_unknown(
    upstream: AsgiUpstream, target: bytes
) -> None:
    """The service may have done its work, but nobody waits for it. As on a connection that closes early."""
    async with asyncio.timeout(5):
        with pytest.raises(OutcomeUnknown):
            await upstream.request(b"POST", target, [], b"")


async def test_a_second_header_cannot_be_smuggled_in(upstream: AsgiUpstream) -> None:
    """Nothing is parsed again here; still, what is refused does not depend on how a service is run."""
    for target, value in ((b"/", b"a\r\nx-caller: forged"), (b"/\r\n", b"a")):
        with pytest.raises(ValueError):
            await upstream.request(b"GET", target, [(b"x", value)], b"")


@pytest.mark.parametrize("steps", range(4))
async def test_closing_leaves_no_caller_waiting(upstream: AsgiUpstream, steps: int) -> None:
    """Whether begun or not: a task that is cancelled before its first step runs no cleanup. Nothing is sent
    afterwards.
    """
    call = asyncio.create_task(upstream.request(b"POST", b"/sleeps", [], b""))
    for _ in range(steps):
        await asyncio.sleep(0)
    await upstream.close()
    async with asyncio.timeout(2):
        with pytest.raises((OutcomeUnknown, NotReached)):
            await call
    with pytest.raises(NotReached):
        await upstream.request(b"GET", b"/", [], b"")
