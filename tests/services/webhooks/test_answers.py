"""What counts of an answer is its status; its body is for the log, whole or not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.webhooks.dispatcher.sender import Sender, Sent
from services.webhooks.rules.urls import UrlPolicy

OPEN = UrlPolicy(allow_http=True, allow_hosts=frozenset({"127.0.0.1"}))


@asynccontextmanager
async def talking(answer: bytes, *, hang: bool = False) -> AsyncIterator[str]:
    """A server that writes these bytes, whatever was asked, and then hangs up or hangs."""
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
async def test_the_status_counts_even_if_the_body_breaks_off(status: bytes, hang: bool) -> None:
    """Success, the wish for nothing more, and the wish for patience were all said before it did."""
    head = b"HTTP/1.1 " + status + b"\r\nRetry-After: 7\r\nContent-Length: 100\r\n\r\nhalf a"
    async with talking(head, hang=hang) as url:
        sent = await post(url)
    assert sent.outcome.status == int(status[:3])
    assert sent.outcome.retry_after == 7
    assert sent.outcome.error is not None
    assert sent.outcome.error.endswith("body broke off")
    assert sent.text == "half a"
    assert sent.outcome.succeeded == (status == b"200 OK")
    assert sent.outcome.gone == (status == b"410 Gone")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "the answer was not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "the answer was not valid HTTP"),
        (b"", "the connection was closed before an answer came"),
    ],
)
async def test_what_went_wrong_is_told_in_words(answer: bytes, words: str) -> None:
    """A partner reads the delivery log: no names of our classes in it."""
    async with talking(answer) as url:
        sent = await post(url)
    assert (sent.outcome.status, sent.outcome.error) == (None, words)


async def test_a_name_that_nobody_knows_is_told_in_words() -> None:
    """The reserved name resolves nowhere."""
    sent = await post("https://nobody.invalid/hook")
    assert sent.outcome.error == "the host name cannot be resolved"
