"""The server speaks HTTP/1.1, also to clients that hurry, hesitate, or send something else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from shared.http.http1 import MOST_HEADERS, MOST_UNTAKEN, PIECE, Connection
from shared.http.server import Address, Listener, listening
from shared.servers.ports import free_port
from tests.harness.eventually import until
from tests.harness.raw_http import RawConnection, connect

CHUNKS = b"2\r\nab\r\n3;x=y\r\ncde\r\n0\r\nT: u\r\n\r\n"
UPGRADE = ("Connection: upgrade", "Upgrade: websocket")


class Echo:
    """Says what it was asked, part by part where the path says so; /wait takes no body until it is let go."""

    def __init__(self) -> None:
        self.scopes: list[dict[str, Any]] = []
        self.let_go = asyncio.Event()
        self.taken: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        path = scope["raw_path"]
        if path == b"/fail":
            raise ZeroDivisionError
        if path == b"/nothing":
            return
        if path == b"/wait":
            await self.let_go.wait()
        body = b""
        while path != b"/early" and (message := await receive())["type"] == "http.request":
            self.taken.append(message["body"])
            body += message["body"]
            if not message["more_body"]:
                break
        said = b"%s %s?%s %s" % (scope["method"].encode(), path, scope["query_string"], body)
        if path == b"/parts":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for part in (said, b"", b" and more"):
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        split = {b"/split": b"a\r\nset-cookie: b", b"/cr": b"a\rset-cookie: b"}.get(path)
        length = len(said) + (path == b"/short")
        headers = [(b"content-length", b"%d" % length), *([(b"x-split", split)] if split else [])]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": said, "more_body": False})
        if path != b"/early":
            assert await receive() == {"type": "http.disconnect"}


@pytest.fixture
def app() -> Echo:
    return Echo()


@pytest.fixture
async def client(app: Echo) -> AsyncIterator[RawConnection]:
    address = Address("test", "127.0.0.1", free_port())
    async with listening([Listener(address, app, max_head_size=32 * 1024)]):
        connection = await connect(f"http://127.0.0.1:{address.port}")
        yield connection
        connection.close()


def ask(line: str, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join([line, "Host: t", *headers, "", ""]).encode() + body


async def test_requests_sent_ahead_are_answered_in_their_order(client: RawConnection) -> None:
    """Each is begun when the one before has its response, however they were cut into packets."""
    many = [
        ask(f"POST /{number}?q={number} HTTP/1.1", "Content-Length: 3", body=b"%03d" % number)
        for number in range(300)
    ]
    sent = b"".join(many)
    assert len(sent) > PIECE
    for place in range(0, len(sent), 7_001):
        await client.write(sent[place : place + 7_001])
    for number in range(300):
        _, _, body = await client.reply()
        assert body == b"POST /%d?q=%d %03d" % (number, number, number)


@pytest.mark.parametrize(
    ("request_line", "headers", "body", "said"),
    [
        ("GET http://studio.example/a?b=c HTTP/1.1", [], b"", b"GET /a?b=c "),
        ("GET http://studio.example HTTP/1.1", [], b"", b"GET /? "),
        ("OPTIONS * HTTP/1.1", [], b"", b"OPTIONS *? "),
        ("GET /a%2Fb//c?d%20e HTTP/1.1", [], b"", b"GET /a%2Fb//c?d%20e "),
        ("POST / HTTP/1.1", ["Transfer-Encoding: chunked"], CHUNKS, b"POST /? abcde"),
        ("GET / HTTP/1.1", ["Connection: Upgrade", "Upgrade: h2c"], b"", b"GET /? "),
        ("POST / HTTP/1.1", [*UPGRADE, "Content-Length: 2"], b"ab", b"POST /? ab"),
        ("POST / HTTP/1.1", [*UPGRADE, "Transfer-Encoding: chunked"], CHUNKS, b"POST /? abcde"),
    ],
)
async def test_whatever_http_allows_is_understood_and_the_connection_is_kept(
    client: RawConnection, app: Echo, request_line: str, headers: list[str], body: bytes, said: bytes
) -> None:
    """A whole URL, a body in chunks with trailers, an upgrade that nobody takes up and its body."""
    for _ in range(2):
        await client.write(ask(request_line, *headers, body=body))
        status, response, got = await client.reply()
        assert (status, got) == (200, said)
        assert "connection" not in response
        assert response["date"].endswith("GMT")
    assert (b"t", b"u") not in app.scopes[0]["headers"], "trailers are no headers"


@pytest.mark.parametrize(
    ("request_line", "header", "kept"),
    [
        ("GET /parts HTTP/1.1", "X: y", True),
        ("GET /parts HTTP/1.1", "Connection: close", False),
        ("GET /parts HTTP/1.0", "X: y", False),
        ("GET / HTTP/1.0", "X: y", False),
        ("GET / HTTP/1.0", "Connection: keep-alive", True),
    ],
)
async def test_a_client_is_told_whether_the_connection_stays(
    client: RawConnection, request_line: str, header: str, kept: bool
) -> None:
    """Without a length, a response comes in chunks, and to HTTP/1.0 until the connection ends."""
    await client.write(ask(request_line, header))
    head = (await client.head()).lower()
    chunked = b"transfer-encoding: chunked" in head
    assert chunked is ("/parts HTTP/1.1" in request_line)
    assert (b"connection: close" in head) is not kept
    if chunked:
        said = b"%x\r\nGET /parts? \r\n9\r\n and more\r\n0\r\n\r\n" % len(b"GET /parts? ")
        assert await client.reader.readexactly(len(said)) == said
    if not kept:
        assert (await client.response()) in (b"", b"GET /parts?  and more", b"GET /? ")
    elif chunked:
        await client.write(ask("HEAD / HTTP/1.1", "Connection: close"))
        assert (await client.response()).endswith(b"content-length: 8\r\nconnection: close\r\n\r\n")


async def test_a_client_that_asks_first_is_told_to_go_on(client: RawConnection) -> None:
    """Only if the body is wanted."""
    expecting = ("Expect: 100-continue", "Content-Length: 2")
    await client.write(ask("POST / HTTP/1.1", *expecting))
    assert await client.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
    await client.write(b"ab")
    assert (await client.reply())[2] == b"POST /? ab"
    await client.write(ask("POST /early HTTP/1.1", *expecting))
    response = await client.response()
    assert response.startswith(b"HTTP/1.1 200")
    assert b"connection: close" in response


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (ask("GET / HTTP/1.1", "A b: c"), 400),
        (ask("POST / HTTP/1.1", "Content-Length: 1", "Content-Length: 2"), 400),
        (ask("POST / HTTP/1.1", "Content-Length: 1", "Transfer-Encoding: chunked"), 400),
        (ask("POST / HTTP/1.1", "Transfer-Encoding: chunked, x"), 400),
        (ask("POST / HTTP/1.1", "Transfer-Encoding: xchunked"), 400),
        (ask("POST / HTTP/1.1", *UPGRADE, "Transfer-Encoding: x"), 400),
        (ask("GET / HTTP/2.0"), 400),
        (b"GET /\r\n\r\n", 400),
        (ask("GET / HTTP/1.1", *[f"X{number}: y" for number in range(MOST_HEADERS)]), 431),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 40_000, 431),
        (b"GET /" + b"y" * 40_000, 431),
    ],
)
async def test_what_is_not_http_is_refused_and_never_reaches_the_app(
    client: RawConnection, app: Echo, sent: bytes, status: int
) -> None:
    """Two lengths of one body are how a request is smuggled past a proxy."""
    await client.write(sent)
    assert (await client.response()).startswith(b"HTTP/1.1 %d " % status)
    assert not app.scopes


async def test_what_came_before_it_is_still_answered(client: RawConnection) -> None:
    """Also if the client has already ended its side."""
    await client.write(ask("GET /a HTTP/1.1") + ask("GET /b HTTP/1.1") + b"\x00\r\n\r\n")
    client.writer.write_eof()
    response = await client.response()
    assert response.count(b"HTTP/1.1 200 OK") == 2
    assert response.endswith(b"GET /b? ")


async def test_a_body_that_nobody_takes_is_left_with_its_sender(client: RawConnection, app: Echo) -> None:
    """Of 64 MB, this process holds what one read brings. All of it arrives once the app takes it."""
    size = 64 * 2**20

    async def send() -> None:
        await client.write(ask("POST /wait HTTP/1.1", f"Content-Length: {size}"))
        for _ in range(64):
            await client.write(b"x" * 2**20)

    sending = asyncio.create_task(send())
    await until(lambda: bool(app.scopes))
    connection = app.scopes[0]["studio.connection"]
    await until(lambda: bool(connection._paused))
    assert connection._running.untaken + len(connection._unparsed) < MOST_UNTAKEN + 2**20
    app.let_go.set()
    await sending
    head, body = await client.head(), await client.reader.readexactly(20)
    assert head.startswith(b"HTTP/1.1 200")
    assert body == b"POST /wait? xxxxxxxx"
    assert sum(map(len, app.taken)) == size


async def test_trailers_and_extensions_of_chunks_are_limited_like_a_head(client: RawConnection) -> None:
    """The parser joins them piece by piece: 24 MB took 14 seconds."""
    await client.write(ask("POST / HTTP/1.1", "Transfer-Encoding: chunked") + b"0\r\nT: ")
    with suppress(ConnectionError):
        for _ in range(24 * 16):
            await client.write(b"a" * 65536)
    assert (await client.response()).startswith((b"HTTP/1.1 200", b""))
    await until(lambda: client.is_closed)


async def test_a_response_that_is_too_short_ends_the_connection(client: RawConnection) -> None:
    """The next one would be taken for its rest."""
    await client.write(ask("GET /short HTTP/1.1") + ask("GET / HTTP/1.1"))
    assert (await client.response()).endswith(b"GET /short? ")


async def test_a_peer_that_has_gone_before_it_was_accepted_is_forgotten() -> None:
    """uvloop then knows no address of it: nothing may count or keep it."""
    opened: list[Connection] = []
    transport = GoneTransport()
    Connection(Echo(), 1024, opened.append, opened.append).connection_made(transport)
    assert transport.aborted
    assert not opened


class GoneTransport(asyncio.Transport):
    aborted = False

    def abort(self) -> None:
        self.aborted = True


@pytest.mark.parametrize("path", ["/fail", "/split", "/cr", "/nothing"])
async def test_an_app_that_fails_leaves_a_500_and_no_connection(client: RawConnection, path: str) -> None:
    """A line break in a header would let one response become two."""
    await client.write(ask(f"GET {path} HTTP/1.1"))
    response = await client.response()
    assert response.startswith(b"HTTP/1.1 500 ")
    assert b"set-cookie" not in response
