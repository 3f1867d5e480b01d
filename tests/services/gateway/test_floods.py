"""The partner port as started in production: what clients without a key can occupy."""

import asyncio
import socket

from yarl import URL

from tests.harness.eventually import until
from tests.harness.process import memory_mb
from tests.harness.raw_http import RawConnection, connect, request
from tests.harness.system import System

SILENT = 1_500
READERS = 200


async def test_silent_connections_do_not_block_the_partner_port(system: System) -> None:
    """More than the server's backlog, from one address: they are closed, and partners get answers."""
    partner = system.partner(await system.key())
    flood: list[RawConnection] = []
    try:
        for _ in range(SILENT // 50):
            flood += await asyncio.gather(*(connect(system.running.partner_url) for _ in range(50)))
        async with asyncio.timeout(5):
            assert (await partner.get("/studio")).status == 200
            fresh = await connect(system.running.partner_url)
            await fresh.write(request("GET", "/health/live"))
            assert (await fresh.answer()).startswith(b"HTTP/1.1 200")
            await until(lambda: sum(one.is_closed for one in flood) >= SILENT // 2)
    finally:
        for connection in flood:
            connection.close()


async def test_readers_who_take_nothing_do_not_fill_the_memory(system: System) -> None:
    """The document is 400 KB. Each client is sent a part of it, and more only after reading that."""
    child = system.running.process_of("gateway").child
    assert child is not None
    before = memory_mb(child.pid)
    readers: list[socket.socket] = []
    try:
        for _ in range(READERS):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            readers.append(reader)
            await asyncio.to_thread(reader.connect, ("127.0.0.1", URL(system.running.partner_url).port))
            reader.sendall(request("GET", "/partner/v1/openapi.json"))
        assert (await system.site.get("/docs")).status == 200  # by then the last of them was served
        await asyncio.sleep(1)
        assert memory_mb(child.pid) - before < READERS * 0.2
    finally:
        for reader in readers:
            reader.close()


async def test_the_partner_port_speaks_no_http2(system: System) -> None:
    """Unless STUDIO_HTTP2 is set."""
    connection = await connect(system.running.partner_url)
    await connection.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000"))
    answer = await connection.answer()
    connection.close()
    assert not answer or answer.startswith(b"HTTP/1.1 4")


async def test_a_head_without_an_end_is_refused_at_32_kib(system: System) -> None:
    """An unfinished head is buffered in memory for each connection."""
    connection = await connect(system.running.partner_url)
    await connection.write(b"GET /health/live HTTP/1.1\r\nHost: t\r\nX-Long: " + b"x" * 40_000)
    assert b" 431 " in (await connection.answer())[:20]
    connection.close()
