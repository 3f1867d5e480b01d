"""How the pool handles valid and broken answers, of any size."""

import asyncio

import pytest

from services.gateway.upstream import OutcomeUnknown
from tests.services.gateway.upstream.scripted_server import (
    OK,
    Peer,
    Script,
    answering,
    answering_then_closing,
    silent,
    upstream_to,
    well_behaved,
)

SOUND = {
    "a length": (b"HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
    "chunks": (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\nt: 1\r\n\r\n",
        200,
        b"ok",
    ),
    "no body allowed": (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
    "a length that is not sent": (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", 304, b""),
    "early hints first": (b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 100 Go\r\n\r\n" + OK, 200, b"ok"),
}


@pytest.mark.parametrize(("wire", "status", "body"), SOUND.values(), ids=SOUND.keys())
async def test_a_sound_answer_is_read_and_its_connection_used_again(
    wire: bytes, status: int, body: bytes
) -> None:
    """However the end of a response is marked, the next request finds the connection clean."""
    async with upstream_to(answering(wire)) as (server, upstream):
        for _ in range(3):
            response = await upstream.request(b"GET", b"/", [], b"")
            assert (response.status, response.body) == (status, body)
            assert not {b"link", b"t", b"transfer-encoding"} & {name for name, _ in response.headers}
        assert server.connections == 1


async def test_an_answer_may_come_byte_by_byte() -> None:
    """Where the network cuts the bytes makes no difference."""

    async def drip(peer: Peer) -> None:
        await peer.request()
        for byte in SOUND["chunks"][0]:
            await peer.send(bytes([byte]))
            await asyncio.sleep(0)

    async with upstream_to(drip) as (_, upstream):
        assert (await upstream.request(b"GET", b"/", [], b"")).body == b"ok"


async def test_an_answer_to_head_has_no_body_whatever_length_it_names() -> None:
    """HEAD: the length is that of the body a GET would have."""
    async with upstream_to(answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n")) as (_, upstream):
        for _ in range(2):
            response = await upstream.request(b"HEAD", b"/", [], b"")
            assert (response.body, response.headers) == (b"", [(b"content-length", b"2")])


ONCE = {
    "a last answer": b"HTTP/1.1 200 OK\r\nconnection: close, x-a\r\nx-a: 1\r\ncontent-length: 2\r\n\r\nok",
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
    "no length": b"HTTP/1.1 200 OK\r\n\r\nok",
    "garbage behind": OK + b"garbage",
    "a second answer behind": OK + OK,
}


@pytest.mark.parametrize("wire", ONCE.values(), ids=ONCE.keys())
async def test_a_connection_that_cannot_be_trusted_further_is_left(wire: bytes) -> None:
    """The response is good; what follows it must never become the answer to the next request."""
    async with upstream_to(answering_then_closing(wire)) as (server, upstream):
        for number in (1, 2):
            response = await upstream.request(b"POST", b"/", [], b"")
            assert (response.status, response.body) == (200, b"ok")
            assert not {b"connection", b"x-a"} & {name for name, _ in response.headers}
            assert server.connections == number


async def test_bytes_that_nobody_asked_for_end_an_idle_connection() -> None:
    """A late 408 must not be taken for the next request's answer."""

    async def nagging(peer: Peer) -> None:
        await peer.response()
        await peer.send(b"HTTP/1.1 408 Late\r\ncontent-length: 0\r\n\r\n")
        await peer.closed()

    async with upstream_to(nagging, well_behaved) as (server, upstream):
        await upstream.request(b"GET", b"/", [], b"")
        await server.left.acquire()
        assert (await upstream.request(b"POST", b"/", [], b"")).status == 200
        assert server.connections == 2


BROKEN = {
    "not HTTP": b"220 mail.example ESMTP\r\n",
    "two framings": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok",
    "two lengths": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok",
    "a bad chunk": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "a switch of protocols": b"HTTP/1.1 101 Up\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    "a head too large at once": b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000 + b"\r\ncontent-length: 0\r\n\r\n",
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000,
    "hints without end": b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n" * 5_000,
    "a body cut short": b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok",
    "a head cut short": b"HTTP/1.1 200 OK\r\ncont",
    "nothing": b"",
}


@pytest.mark.parametrize("wire", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("method", [b"GET", b"POST"])
async def test_a_broken_answer_leaves_the_outcome_unknown(method: bytes, wire: bytes) -> None:
    """The request was sent: only the caller can decide whether to try again. A read without any response was
    tried again already."""
    async with upstream_to(answering_then_closing(wire)) as (server, upstream):
        with pytest.raises(OutcomeUnknown):
            await upstream.request(method, b"/", [], b"")
        assert len(server.requests) == (2 if method == b"GET" and not wire else 1)


async def test_a_reset_leaves_the_outcome_unknown() -> None:
    """A reset ends a response without a length in the middle, where an orderly end would complete it."""

    async def reset(peer: Peer) -> None:
        await peer.response(b"HTTP/1.1 200 OK\r\n\r\nok")
        await asyncio.sleep(0.05)
        peer.reset()

    async with upstream_to(reset) as (_, upstream):
        with pytest.raises(OutcomeUnknown):
            await upstream.request(b"GET", b"/", [], b"")


async def stuck_body(peer: Peer) -> None:
    await peer.response(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok")
    await peer.closed()


async def endless_body(peer: Peer) -> None:
    await peer.response(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        await peer.send(b"1\r\nx\r\n")
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("script", "response_timeout", "read_timeout"),
    [(silent, 0.2, 9.0), (stuck_body, 9.0, 0.2), (stuck_body, 0.2, 9.0), (endless_body, 0.3, 0.2)],
)
async def test_an_answer_has_its_time(script: Script, response_timeout: float, read_timeout: float) -> None:
    """Silence before the response, silence within it and a response that never ends all have a limit."""
    async with upstream_to(script, response_timeout=response_timeout, read_timeout=read_timeout) as (
        _,
        upstream,
    ):
        async with asyncio.timeout(2):
            with pytest.raises(OutcomeUnknown):
                await upstream.request(b"POST", b"/", [], b"")


async def test_an_answer_that_overtakes_its_request_ends_the_connection() -> None:
    """A 413 before the body was read: the rest of the body would precede the next request."""

    async def hasty(peer: Peer) -> None:
        await peer.begun()
        await peer.send(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        await peer.closed()

    async with upstream_to(hasty, well_behaved) as (_, upstream):
        assert (await upstream.request(b"POST", b"/", [], b"x" * 50_000_000)).status == 413
        assert (await upstream.request(b"POST", b"/", [], b"")).status == 200


LONG = 24 * 1024 * 1024


@pytest.mark.parametrize("sent", [LONG, LONG // 12])
async def test_a_long_answer_comes_whole_or_not_at_all(sent: int) -> None:
    """One that breaks off is not taken for whole. After a whole one the connection is used again."""

    async def fountain(peer: Peer) -> None:
        await peer.response(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % LONG)
        for _ in range(sent // 65536):
            await peer.send(b"x" * 65536)
        if sent == LONG:
            await well_behaved(peer)

    async with upstream_to(fountain) as (server, upstream):
        if sent < LONG:
            with pytest.raises(OutcomeUnknown):
                await upstream.request(b"GET", b"/", [], b"")
            return
        assert len((await upstream.request(b"GET", b"/", [], b"")).body) == LONG
        assert (await upstream.request(b"GET", b"/", [], b"")).body == b"ok"
        assert server.connections == 1
