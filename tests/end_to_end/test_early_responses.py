"""What a client on a raw socket sees when it is refused before its body was read."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shared.http.routes import MAX_BODY
from tests.harness.raw_http import RawConnection, connect
from tests.harness.system import System

LARGE = b"x" * (MAX_BODY * 4)


class Line:
    """One connection, written and read byte by byte."""

    def __init__(self, connection: RawConnection) -> None:
        self.connection = connection
        self.reader = connection.reader
        self.writer = connection.writer

    async def response(self) -> tuple[int, dict[str, str]]:
        status, headers, _ = await self.connection.reply()
        return status, headers

    async def has_ended(self) -> bool:
        return await self.reader.read(1) == b""


@asynccontextmanager
async def connected(system: System) -> AsyncIterator[Line]:
    connection = await connect(system.running.partner_url)
    yield Line(connection)
    connection.close()


def head(method: str, path: str, key: str | None, *more: str) -> bytes:
    lines = [f"{method} /partner/v1{path} HTTP/1.1", "Host: x", "Content-Type: application/json", *more]
    return "\r\n".join([*lines, *([f"X-Service-Key: {key}"] if key else []), "", ""]).encode()


def chunked(body: bytes) -> bytes:
    parts = [body[at : at + 16_384] for at in range(0, len(body), 16_384)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


REFUSALS = [
    ("POST", "/leads", "all", 413),
    ("POST", "/leads", None, 401),
    ("POST", "/leads", "studio:read", 403),
    ("PUT", "/studio", "all", 405),
    ("GET", "/studio", None, 401),
]


@pytest.mark.parametrize("in_chunks", [False, True], ids=["declared", "chunked"])
@pytest.mark.parametrize(("method", "path", "scopes", "status"), REFUSALS)
async def test_an_early_answer_to_a_large_body_says_that_the_connection_closes(
    system: System, method: str, path: str, scopes: str | None, status: int, in_chunks: bool
) -> None:
    """The body may be in flight: the response arrives with `Connection: close`, then the connection ends."""
    key = await system.key([scopes]) if scopes else None
    size = "Transfer-Encoding: chunked" if in_chunks else f"Content-Length: {len(LARGE)}"
    async with connected(system) as line:
        line.writer.write(head(method, path, key, size) + (chunked(LARGE) if in_chunks else LARGE))
        await line.writer.drain()
        answered, headers = await line.response()
        assert (answered, headers.get("connection")) == (status, "close")
        assert await line.has_ended()


async def test_an_early_answer_to_a_small_body_keeps_the_connection(system: System) -> None:
    """A refused write does not cost a new connection: the next request on the same one is answered."""
    key = await system.key()
    async with connected(system) as line:
        for method, path, used, status in (("POST", "/leads", None, 401), ("PUT", "/studio", key, 405)):
            line.writer.write(head(method, path, used, "Content-Length: 50000") + b"x" * 50_000)
            answered, headers = await line.response()
            assert (answered, headers.get("connection")) == (status, None)
        line.writer.write(head("GET", "/studio", key))
        assert (await line.response())[0] == 200


async def test_who_asks_before_sending_is_refused_without_the_body(system: System) -> None:
    """`Expect: 100-continue`: there is no 100, and the response says `Connection: close`."""
    async with connected(system) as line:
        line.writer.write(head("POST", "/leads", None, "Content-Length: 100", "Expect: 100-continue"))
        answered, headers = await line.response()
        assert (answered, headers.get("connection")) == (401, "close")
        assert await line.has_ended()


async def test_a_body_that_stops_half_way_is_answered_all_the_same(system: System) -> None:
    """We do not wait long for the rest of a small body."""
    async with connected(system) as line:
        line.writer.write(head("POST", "/leads", None, "Content-Length: 100") + b"{")
        answered, headers = await line.response()
        assert (answered, headers.get("connection")) == (401, "close")
