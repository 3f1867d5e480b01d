"""A port enforces its connection limits, whatever clients do or fail to do."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from prometheus_client import REGISTRY

from shared.http.client_address import TrustedProxies
from shared.http.connection_limits import ConnectionLimits, mark_authenticated
from shared.http.server import Address, Listener, listening
from shared.servers.ports import free_port
from tests.harness.eventually import in_background, until
from tests.harness.raw_http import RawConnection, connect

PIECE = b"x" * 65536
PIECES = 400
GET = b"GET / HTTP/1.1\r\nHost: t\r\n\r\n"
WITH_KEY = b"GET /authenticated HTTP/1.1\r\nHost: t\r\n\r\n"


class Responses:
    """Small answers, and at /long one of 25 MB; counts those that were sent to their end, or cut off."""

    def __init__(self) -> None:
        self.long_ones_over = self.cut_off = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        long = scope["path"] == "/long"
        if scope["path"] == "/authenticated":
            mark_authenticated(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            for _ in range(PIECES if long else 0):
                await send({"type": "http.response.body", "body": PIECE, "more_body": True})
        except ConnectionError:
            self.cut_off += 1
            raise
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        self.long_ones_over += long


@asynccontextmanager
async def port_with(app: Any, **limits: Any) -> AsyncIterator[str]:
    port = free_port()
    address = Address("test", "127.0.0.1", port)
    async with listening([Listener(address, app, ConnectionLimits(**limits))]):
        yield f"http://127.0.0.1:{port}"


async def exchange(connection: RawConnection, request: bytes = GET) -> bytes:
    await connection.write(request)
    return await connection.head()


def closed(connections: list[RawConnection]) -> int:
    """How many have been closed by now."""
    return sum(one.is_closed for one in connections)


async def until_closed(connections: list[RawConnection], count: int) -> None:
    await until(lambda: closed(connections) >= count, seconds=10)


async def until_seen(url: str, count: int) -> None:
    port = {"port": url.rpartition(":")[2]}
    await until(lambda: (REGISTRY.get_sample_value("studio_connections", port) or 0) >= count, seconds=10)


async def test_a_silent_connection_is_closed_and_a_talking_one_stays() -> None:
    """A client that sends no byte in time is closed; one that has sent a request may send another."""
    async with port_with(Responses(), silent_seconds=0.5) as url:
        talking, silent = await connect(url), await connect(url)
        assert b"200 OK" in await exchange(talking)
        await until_closed([silent], 1)
        assert b"200 OK" in await exchange(talking)


async def test_one_address_cannot_hold_more_than_its_share() -> None:
    """Silent connections are closed first, so that a partner behind the same address is still served."""
    async with port_with(Responses(), max_per_address=10) as url:
        partner = await connect(url)
        assert b"200 OK" in await exchange(partner)
        flood = [await connect(url) for _ in range(40)]
        await until_closed(flood, 31)
        assert b"200 OK" in await exchange(partner)
        assert closed(flood) == 31


async def test_a_trusted_proxy_may_hold_as_many_as_it_needs() -> None:
    """Behind an ingress every partner has the ingress's address."""
    trusted = TrustedProxies(["127.0.0.0/8"])
    async with port_with(Responses(), max_per_address=3, silent_seconds=1.5, trusted=trusted) as url:
        many = [await connect(url) for _ in range(12)]
        for connection in many:
            assert b"200 OK" in await exchange(connection)
        await until_closed([await connect(url)], 1)  # by then three sweeps have run
        for connection in many:
            assert b"200 OK" in await exchange(connection)


async def test_a_port_full_of_authenticated_connections_answers_503_and_serves_health_checks() -> None:
    """New clients get 503 with `Retry-After`, and their connection is closed."""
    async with port_with(Responses(), max_connections=5) as url:
        inside = [await connect(url) for _ in range(5)]
        for connection in inside:
            assert b"200 OK" in await exchange(connection, WITH_KEY)
        refusal = b""
        await until_seen(url, 5)
        async with asyncio.timeout(10):
            while b"503" not in refusal:
                started = time.monotonic()
                # A sweep may see it before it has sent anything, and close it.
                with suppress(BrokenPipeError, ConnectionResetError):
                    refusal = await exchange(await connect(url))
                assert time.monotonic() - started < 5
        assert b"retry-after: 1" in refusal
        assert b"connection: close" in refusal
        probe = await connect(url)
        assert b"200 OK" in await exchange(probe, b"GET /health/live HTTP/1.1\r\nHost: t\r\n\r\n")
        for connection in inside:
            assert b"200 OK" in await exchange(connection)
        probe.close()
        inside[0].close()
        async with asyncio.timeout(10):
            while b"200 OK" not in await exchange(await connect(url)):
                await asyncio.sleep(0.1)


async def keep_alive(url: str, address: str, count: int, headers: bytes = b"") -> None:
    """Connections that ask something without a key again and again; one that is closed is opened again."""
    request = b"GET / HTTP/1.1\r\nHost: t\r\n%s\r\n" % headers

    async def one() -> None:
        while True:
            with suppress(OSError, EOFError):
                connection = await connect(url, local_address=address)
                while not connection.reader.at_eof():
                    await exchange(connection, request)
                    await asyncio.sleep(0.3)

    await asyncio.gather(*(one() for _ in range(count)))


async def newcomers_are_served(url: str, request: bytes, **connecting: Any) -> None:
    for _ in range(24):
        newcomer = await connect(url, **connecting)
        assert b"200 OK" in await exchange(newcomer, request)
        newcomer.close()
        await asyncio.sleep(0.05)


async def test_a_few_addresses_cannot_close_the_port_for_others() -> None:
    """A full port takes connections from the addresses that have most, so another address is always served,
    and one that has authenticated stays open, also in an address that has many."""
    async with port_with(Responses(), max_connections=40, max_per_address=12) as url:
        partner = await connect(url, local_address="127.0.9.1")
        assert b"200 OK" in await exchange(partner, WITH_KEY)
        attacks = [keep_alive(url, f"127.0.9.{1 + number}", 11) for number in range(5)]
        async with in_background(*attacks):
            await until_seen(url, 41)
            await newcomers_are_served(url, GET, local_address="127.0.9.100")
            assert b"200 OK" in await exchange(partner)
            assert closed([partner]) == 0


async def test_behind_a_proxy_the_address_that_it_tells_is_counted() -> None:
    """All connections have the proxy's address, so that would tell nothing."""
    trusted = TrustedProxies(["127.0.0.0/8"])
    async with port_with(Responses(), max_connections=20, trusted=trusted) as url:
        attack = keep_alive(url, "127.0.9.1", 22, b"X-Forwarded-For: 192.0.2.1\r\n")
        other = b"GET / HTTP/1.1\r\nHost: t\r\nX-Forwarded-For: 192.0.2.2\r\n\r\n"
        partner = await connect(url, local_address="127.0.9.1")
        assert b"200 OK" in await exchange(partner, other)
        async with in_background(attack):
            await until_seen(url, 20)
            async with asyncio.timeout(10):
                while b"200 OK" not in await exchange(await connect(url), other):
                    await asyncio.sleep(0.05)  # the next sweep knows the addresses
            await newcomers_are_served(url, other)
            assert b"200 OK" in await exchange(partner, other)


async def test_who_does_not_read_an_answer_is_cut_off_and_a_slow_reader_is_not() -> None:
    """An unread answer holds memory: the reader must keep up a minimum rate."""
    app = Responses()
    request = b"GET /long HTTP/1.1\r\nHost: t\r\n\r\n"
    async with port_with(app, unread_seconds=1.0) as url:
        stuck, slow = await connect(url), await connect(url)
        await stuck.write(request)
        stuck.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await slow.write(request)
        taken, started = 0, time.monotonic()
        while taken < PIECES * len(PIECE):
            taken += len(await slow.reader.read(2**18))
            await asyncio.sleep(0.03)
        assert time.monotonic() - started > 2.5
        await until(lambda: (app.long_ones_over, app.cut_off) == (1, 1), seconds=10)
        stuck.writer.transport.resume_reading()  # type: ignore[attr-defined]
        assert len(await stuck.response()) < PIECES * len(PIECE)
