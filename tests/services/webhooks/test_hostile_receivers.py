"""What a receiver may send: only its status counts, and too much or unrequested data costs others nothing."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest

from services.webhooks.dispatcher.response_guard import BoundedResponseHandler
from services.webhooks.dispatcher.sender import Sender, Sent
from services.webhooks.rules.urls import UrlPolicy

POLICY = UrlPolicy(allow_http=True, allow_hosts=frozenset({"127.0.0.1"}))
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
FAILED = b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(talk: Talk) -> AsyncIterator[str]:
    """A raw TCP server; its URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await talk(reader, writer)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/hook"


async def read_request(reader: asyncio.StreamReader) -> None:
    await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(2)


def replying(response: bytes) -> tuple[Talk, list[asyncio.StreamWriter]]:
    """A receiver that gives the same response to every request, and its connections."""
    writers: list[asyncio.StreamWriter] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        while True:
            await read_request(reader)
            writer.write(response)

    return talk, writers


def endless(start: bytes, again: bytes) -> tuple[Talk, list[int]]:
    """A receiver that repeats `again` until the connection is closed, and counts the bytes that it sent."""
    sent = [0]

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(start)
        while not writer.is_closing():
            writer.write(again)
            await writer.drain()
            sent[0] += len(again)
            await asyncio.sleep(0)

    return talk, sent


@pytest.mark.parametrize(
    ("start", "again"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x=y;" * 10_000),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 40_000),
    ],
    ids=["100 Continue", "chunk extensions", "a header without end"],
)
async def test_an_endless_response_is_given_up_after_a_bounded_amount(start: bytes, again: bytes) -> None:
    """By its size, long before the timeout: it would keep the event loop busy for all tenants. Whatever its
    status, the attempt has failed, so that the endpoint is soon paused."""
    talk, sent = endless(start, again)
    async with server(talk) as url, Sender(POLICY, timeout=10) as sender:
        cpu, began = time.process_time(), time.perf_counter()
        result = await sender.post(url, {}, b"{}")
        assert time.perf_counter() - began < 5
        assert time.process_time() - cpu < 2
    assert result.outcome.is_endpoint_failure
    assert result.outcome.error is not None
    # The kernel's socket buffers take a few megabytes at most.
    assert sent[0] < 12_000_000


async def test_few_of_a_flood_of_interim_responses_are_parsed() -> None:
    """They arrive 256 KiB at a time, and each costs as much to parse as a whole response."""
    handler = BoundedResponseHandler(asyncio.get_running_loop())
    handler.set_response_params()
    handler.data_received(b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000)
    assert handler.exception() is not None
    assert handler._interim < 100


async def test_a_connection_is_used_again_after_a_few_interim_responses() -> None:
    """`100 Continue` and `103 Early Hints` come before the response that counts.

    The guard does not cost a connection for each delivery.
    """
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    for response in (OK, interim + OK):
        talk, writers = replying(response)
        async with server(talk) as url, Sender(POLICY, timeout=5) as sender:
            for _ in range(5):
                result = await sender.post(url, {}, b"{}")
                assert (result.outcome.status, result.text) == (200, "ok")
        assert len(writers) == 1


@pytest.mark.parametrize("pause", [None, 0.0, 0.05], ids=["same packet", "next packet", "later"])
async def test_an_unrequested_response_is_not_taken_as_the_next_deliverys(pause: float | None) -> None:
    """A receiver that always fails and also sends an unrequested 200: every delivery counts as failed."""
    connections = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while True:
            await read_request(reader)
            writer.write(FAILED + OK if pause is None else FAILED)
            if pause is not None:
                await writer.drain()
                await asyncio.sleep(pause)
                writer.write(OK)

    async with server(talk) as url, Sender(POLICY, timeout=5) as sender:
        statuses = []
        for _ in range(5):
            statuses.append((await sender.post(url, {}, b"{}")).outcome.status)
            await asyncio.sleep(0.1 if pause else 0)
    assert statuses == [500] * 5
    assert connections == 5, "a connection with unread bytes is not used again"


async def test_input_that_the_loop_has_not_read_yet_prevents_reuse() -> None:
    """The bytes are in the socket when the next delivery picks a connection, so the socket is checked."""
    talk, writers = replying(FAILED)
    async with server(talk) as url, Sender(POLICY, timeout=5) as sender:
        assert (await sender.post(url, {}, b"{}")).outcome.status == 500
        # Written past the loop, and the loop gets no chance to read it before the next request.
        writers[0].get_extra_info("socket")._sock.send(OK)
        assert (await sender.post(url, {}, b"{}")).outcome.status == 500
    assert len(writers) == 2


def test_the_guard_was_read_with_this_version_of_aiohttp() -> None:
    """Its protocol is not public: check the source again for another minor version."""
    assert aiohttp.__version__.split(".")[:2] == ["3", "14"]


async def post(response: bytes, *, hang: bool = False) -> Sent:
    """To a server that writes these bytes, then closes the connection or hangs."""
    done = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(response)
        await writer.drain()
        if hang:
            await done.wait()

    async with server(talk) as url, Sender(POLICY, timeout=0.3) as sender:
        sent = await sender.post(url, {}, b"{}")
        done.set()
    return sent


@pytest.mark.parametrize("hang", [False, True])
@pytest.mark.parametrize("status", [b"200 OK", b"410 Gone", b"503 Busy"])
async def test_the_status_counts_even_if_the_body_is_cut_off(status: bytes, hang: bool) -> None:
    """2xx, 410 and Retry-After take effect: they arrived before the body was cut off."""
    head = b"HTTP/1.1 " + status + b"\r\nRetry-After: 7\r\nContent-Length: 100\r\n\r\nhalf a"
    sent = await post(head, hang=hang)
    assert sent.outcome.status == int(status[:3])
    assert sent.outcome.retry_after == 7
    assert sent.outcome.error is not None
    assert sent.outcome.error.endswith("body was cut off")
    assert sent.text == "half a"
    assert sent.outcome.succeeded == (status == b"200 OK")
    assert sent.outcome.gone == (status == b"410 Gone")


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "the response was not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "the response was not valid HTTP"),
        (b"", "the connection was closed before a response arrived"),
    ],
)
async def test_the_delivery_log_says_what_went_wrong(response: bytes, words: str) -> None:
    """Partners read the delivery log, so it does not name our classes."""
    sent = await post(response)
    assert (sent.outcome.status, sent.outcome.error) == (None, words)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://nobody.invalid/hook", "the host name cannot be resolved"),  # it is reserved
        ("http://127.0.0.1:9/hook", "could not connect"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_reported(url: str, words: str) -> None:
    async with Sender(POLICY) as sender:
        sent = await sender.post(url, {}, b"{}")
    assert sent.outcome.status is None and str(sent.outcome.error).startswith(words)
