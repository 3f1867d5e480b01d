"""Reaching a service: by name, by socket file, or not at all."""

import asyncio
import socket
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from services.gateway.upstream import HttpUpstream, NotReached
from tests.services.gateway.upstream.scripted_server import OK, answering_then_closing, scripted, well_behaved

CLOSING = answering_then_closing(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")


def name_has(monkeypatch: pytest.MonkeyPatch, hosts: list[str]) -> None:
    def looked_up(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in hosts]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)


@pytest.mark.asyncio(loop_factories=["asyncio"])  # uvloop does not ask Python for addresses
async def test_new_connections_spread_over_a_names_addresses_as_they_are_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Replicas come and go: each new connection resolves again and picks a random address."""
    async with scripted(CLOSING) as one, scripted(CLOSING, host="127.0.0.2", port=one.port) as two:
        upstream = HttpUpstream(f"http://service.test:{one.port}")
        served: Counter[str] = Counter()
        for hosts in (["127.0.0.1", "127.0.0.2"], ["127.0.0.2"]):
            name_has(monkeypatch, hosts)
            for _ in range(40):
                await upstream.request(b"POST", b"/", [], b"")
            served["one"], served["two"] = len(one.requests), len(two.requests)
        await upstream.close()
        assert served["one"] >= 5 and served["two"] >= 45


@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_a_dead_replica_does_not_make_the_service_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was sent to it, so the next address may have the request."""
    async with scripted(CLOSING) as server:
        name_has(monkeypatch, ["127.0.0.3", "127.0.0.1"])
        upstream = HttpUpstream(f"http://service.test:{server.port}")
        for _ in range(20):
            assert (await upstream.request(b"POST", b"/", [], b"")).status == 200
        await upstream.close()


async def test_a_service_is_reached_through_a_socket_file(tmp_path: Path) -> None:
    """On one machine a socket file is the fastest way."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert b"host: localhost\r\n" in await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        await reader.read()
        writer.close()

    server = await asyncio.start_unix_server(serve, tmp_path / "s")
    upstream = HttpUpstream(f"unix:{tmp_path}/s")
    assert (await upstream.request(b"GET", b"/", [], b"")).body == b"ok"
    await upstream.close()
    server.close()


async def test_a_service_that_is_not_there_was_not_reached(tmp_path: Path) -> None:
    """Refused, unknown name, missing socket file: nothing was sent, and the slot is free again."""
    async with scripted(well_behaved) as gone:
        pass
    for address in (gone.url, f"unix:{tmp_path}/none", "http://name.invalid:80"):
        upstream = HttpUpstream(address, max_connections=1, connect_timeout=5)
        for _ in range(2):
            with pytest.raises(NotReached):
                await upstream.request(b"POST", b"/", [], b"")
        await upstream.close()


async def test_connecting_has_its_time() -> None:
    """A full backlog neither accepts nor refuses: the caller gets an error within the timeout."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        upstream = HttpUpstream(f"http://127.0.0.1:{listener.getsockname()[1]}", connect_timeout=0.2)
        async with asyncio.timeout(2):
            with pytest.raises(NotReached):
                await upstream.request(b"POST", b"/", [], b"")
        await upstream.close()
        for filler in fillers:
            filler.close()


@pytest.mark.parametrize("address", ["https://a:1", "a:1", "unix:relative", "http://", "http://a:1/path"])
def test_an_address_that_would_be_misread_is_refused_at_the_start(address: str) -> None:
    """A wrong setting must fail before the first request."""
    with pytest.raises(ValueError):
        HttpUpstream(address)
