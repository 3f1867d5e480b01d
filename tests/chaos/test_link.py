"""The proxy fails as a network does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.chaos.link import BOTH, RESPONSES, Link, linked


@asynccontextmanager
async def echo() -> AsyncIterator[Link]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while part := await reader.read(100):
            writer.write(part)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with linked("test>echo", server.sockets[0].getsockname()[1]) as link:
        yield link
    server.close()


async def said(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: bytes) -> bytes:
    writer.write(text)
    await writer.drain()
    return await asyncio.wait_for(reader.read(100), 10)


@asynccontextmanager
async def connected(link: Link) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection that works."""
    reader, writer = await asyncio.open_connection("127.0.0.1", link.port)
    assert await said(reader, writer, b"one") == b"one"
    yield reader, writer
    writer.close()


async def test_a_held_link_gives_its_bytes_back_when_it_is_healed() -> None:
    """As with TCP when packets pass again, nothing is lost, only late."""
    async with echo() as link, connected(link) as (reader, writer):
        for directions in (BOTH, frozenset({RESPONSES})):
            link.hold(directions)
            writer.write(b"two")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.read(100), 0.3)
            await link.heal()
            assert await asyncio.wait_for(reader.read(100), 10) == b"two"


async def test_a_reset_link_resets_open_and_new_connections() -> None:
    """The client sees an error, not an orderly end."""
    async with echo() as link:
        async with connected(link) as (reader, _):
            link.reset()
            with pytest.raises(ConnectionResetError):
                await asyncio.wait_for(reader.read(100), 10)
        await link.heal()
        async with connected(link):
            pass


async def test_a_link_that_refuses_takes_nobody_in_and_keeps_its_port() -> None:
    """Refused at once; the same port serves again after the fault."""
    async with echo() as link:
        link.refuse()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", link.port)
        await link.heal()
        async with connected(link):
            pass


async def test_a_half_closed_connection_ends_in_one_direction_only() -> None:
    """The client reads an end of file, and may still write."""
    async with echo() as link, connected(link) as (reader, writer):
        link.half_close(RESPONSES)
        assert await asyncio.wait_for(reader.read(100), 10) == b""
        writer.write(b"still open")
        await writer.drain()
