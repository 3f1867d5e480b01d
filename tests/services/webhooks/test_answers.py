"""Only the status of a response counts. Its body is for the delivery log, complete or not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.webhooks.dispatcher.sender import Sender, Sent
from services.webhooks.rules.urls import UrlPolicy

OPEN = UrlPolicy(allow_http=True, allow_hosts=frozenset({"127.0.0.1"}))


@asynccontextmanager
async def talking(answer: bytes, *, hang: bool = False) -> AsyncIterator[str]:
    """A server that writes these bytes to any request, then closes the connection or hangs."""
    done = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        if hang:
            await done.wait()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
        done.set()


async def post(url: str) -> Sent:
    async with Sender(OPEN, timeout=0.3) as sender:
        return await sender.post(url, {}, b"{}")


@pytest.mark.parametrize("hang", [False, True])
@pytest.mark.parametrize("status", [b"200 OK", b"410 Gone", b"503 Busy"])
async def test_the_status_counts_even_if_the_body_is_cut_off(status: bytes, hang: bool) -> None:
    """2xx, 410 and Retry-After take effect: they arrived before the body was cut off."""
    head = b"HTTP/1.1 " + status + b"\r\nRetry-After: 7\r\nContent-Length: 100\r\n\r\nhalf a"
    async with talking(head, hang=hang) as url:
        sent = await post(url)
    assert sent.outcome.status == int(status[:3])
    assert sent.outcome.retry_after == 7
    assert sent.outcome.error is not None
    assert sent.outcome.error.endswith("body was cut off")
    assert sent.text == "half a"
    assert sent.outcome.succeeded == (status == b"200 OK")
    assert sent.outcome.gone == (status == b"410 Gone")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "the response was not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "the response was not valid HTTP"),
        (b"", "the connection was closed before a response arrived"),
    ],
)
async def test_the_delivery_log_says_what_went_wrong(answer: bytes, words: str) -> None:
    """Partners read the delivery log, so it does not name our classes."""
    async with talking(answer) as url:
        sent = await post(url)
    assert (sent.outcome.status, sent.outcome.error) == (None, words)


async def test_an_unknown_host_name_is_reported() -> None:
    """`.invalid` is reserved and never resolves."""
    sent = await post("https://nobody.invalid/hook")
    assert sent.outcome.error == "the host name cannot be resolved"
