"""How a service is reached, which connection carries a request, how often it is sent, and who waits."""

import asyncio
import socket
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from services.gateway.upstream import HttpUpstream, NotReached, OutcomeUnknown
from tests.services.gateway.upstream.scripted_server import (
    OK,
    Peer,
    Script,
    answering,
    answering_then_closing,
    scripted,
    silent,
    upstream_to,
    well_behaved,
)

UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}"


async def stale(peer: Peer) -> None:
    """Answers once, reads the next request, and closes without a response."""
    await peer.response()
    await peer.request()


async def answering_once(peer: Peer) -> None:
    await peer.response()
    await peer.closed()


@pytest.mark.parametrize("gone", [stale, answering_then_closing(b"")])
async def test_a_read_that_meets_a_closed_connection_is_sent_again_once(gone: Script) -> None:
    """A GET changes nothing, and a closed keep-alive connection says nothing about the service.

    A new connection, too, may be to a replica at its end, which accepts no more.
    """
    async with upstream_to(gone, well_behaved) as (server, upstream):
        for _ in range(2):
            assert (await upstream.request(b"GET", b"/", [], b"")).status == 200
        assert (server.connections, len(server.requests)) == (2, 3)


@pytest.mark.parametrize(
    ("method", "body", "sent"),
    [(b"GET", b"", 3), *((method, b"{}", 2) for method in (b"POST", b"PUT", b"PATCH", b"DELETE"))],
)
async def test_a_read_is_not_sent_a_third_time_and_a_write_never_twice(
    method: bytes, body: bytes, sent: int
) -> None:
    """A fresh connection's silence is the service's, which may have done a write before it closed."""
    async with upstream_to(stale, answering_then_closing(b""), well_behaved) as (server, upstream):
        await upstream.request(b"GET", b"/", [], b"")
        with pytest.raises(OutcomeUnknown):
            await upstream.request(method, b"/", [], body)
        assert len(server.requests) == sent


async def test_a_write_is_not_put_on_a_connection_whose_end_the_loop_has_not_seen() -> None:
    """The peer closes while the loop is busy; a blocking server in a thread stages the moment."""
    listener = socket.create_server(("127.0.0.1", 0))
    closed = threading.Event()

    def serve() -> None:
        for last in (False, True):
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.sendall(OK)
            if last:
                connection.recv(65536)
            connection.close()
            closed.set()

    thread = threading.Thread(target=serve)
    thread.start()
    upstream = HttpUpstream(f"http://127.0.0.1:{listener.getsockname()[1]}")
    await upstream.request(b"GET", b"/", [], b"")
    closed.wait()  # blocks the loop on purpose
    time.sleep(0.05)  # noqa: ASYNC251 - until the kernel has the end, with the loop still not told
    assert (await upstream.request(b"POST", b"/", [], b"{}")).status == 200
    await upstream.close()
    await asyncio.to_thread(thread.join)
    listener.close()


async def test_an_idle_connection_is_closed_before_the_server_would() -> None:
    """The side that closes first knows that no request is in flight."""

    async with upstream_to(answering_once, idle_limit=0.1) as (server, upstream):
        await upstream.request(b"GET", b"/", [], b"")
        await server.left.acquire()
        assert (await upstream.request(b"POST", b"/", [], b"")).status == 200
        assert server.connections == 2


async def test_a_connection_is_replaced_when_it_is_old() -> None:
    """Otherwise a busy gateway would never use replicas that were added later."""
    async with upstream_to(well_behaved, max_age=0.1, idle_limit=0.2) as (server, upstream):
        while server.connections < 3:
            assert (await upstream.request(b"POST", b"/", [], b"")).status == 200


async def test_a_replica_that_cannot_serve_is_left_after_one_answer() -> None:
    """Otherwise a gateway would send everything to a replica without a database, beside a healthy one."""
    async with upstream_to(answering(UNAVAILABLE), well_behaved) as (server, upstream):
        statuses = [(await upstream.request(b"POST", b"/", [], b"")).status for _ in range(3)]
        assert (statuses, server.connections) == ([503, 200, 200], 2)


async def test_a_restarted_service_is_found_again_by_writes_too() -> None:
    """The old process's connections are all gone from the pool before one of them is used."""
    async with scripted(well_behaved) as server:
        upstream = HttpUpstream(server.url)
        await asyncio.gather(*(upstream.request(b"GET", b"/", [], b"") for _ in range(8)))
        assert server.connections > 1
    async with scripted(well_behaved, port=server.port) as again:
        for _ in range(8):
            assert (await upstream.request(b"POST", b"/", [], b"")).status == 200
        await upstream.close()
        assert again.connections == 1


async def test_a_host_that_vanished_takes_its_idle_connections_along() -> None:
    """No end was seen: the first time-out is the only sign, and no second request should pay for it."""

    async def vanishing(peer: Peer) -> None:
        await peer.response()
        await silent(peer)

    async with upstream_to(vanishing, vanishing, well_behaved, response_timeout=0.2) as (server, upstream):
        await asyncio.gather(*(upstream.request(b"GET", b"/", [], b"") for _ in range(2)))
        with pytest.raises(OutcomeUnknown):
            await upstream.request(b"GET", b"/", [], b"")
        assert (await upstream.request(b"GET", b"/", [], b"")).status == 200
        assert server.connections == 3


async def test_a_caller_that_goes_away_takes_its_connection_along() -> None:
    """The pending answer must not reach another caller."""
    async with upstream_to(silent, well_behaved, max_connections=1) as (server, upstream):
        call = asyncio.create_task(upstream.request(b"GET", b"/mine", [], b""))
        await server.arrived.acquire()
        call.cancel()
        await server.left.acquire()
        assert (await upstream.request(b"GET", b"/yours", [], b"")).body == b"ok"


async def test_callers_beyond_the_limit_are_served_in_the_order_they_came() -> None:
    """One connection, four callers, one of whom gives up while it waits: nobody is overtaken or forgotten."""
    async with upstream_to(well_behaved, max_connections=1) as (server, upstream):
        calls = [asyncio.create_task(upstream.request(b"GET", b"/%d" % n, [], b"")) for n in range(5)]
        await asyncio.sleep(0)
        calls[2].cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert [request.split()[1] for request in server.requests] == [b"/0", b"/1", b"/3", b"/4"]
        assert server.connections == 1


async def test_the_queue_has_an_end_and_a_time() -> None:
    """A caller that never got a connection has sent nothing: a full queue or a long wait is a 503."""
    async with upstream_to(silent, max_connections=1, max_waiting=1, connect_timeout=0.2) as (
        server,
        upstream,
    ):
        first, waiting = (asyncio.create_task(upstream.request(b"GET", b"/", [], b"")) for _ in range(2))
        await server.arrived.acquire()
        with pytest.raises(NotReached, match="too many"):
            await upstream.request(b"GET", b"/", [], b"")
        with pytest.raises(NotReached, match="TimeoutError"):
            await waiting
        await upstream.close()
        with pytest.raises(OutcomeUnknown):
            await first
        with pytest.raises(NotReached):
            await upstream.request(b"GET", b"/", [], b"")


@pytest.mark.parametrize("seed", range(3))
async def test_no_slot_is_lost_in_a_storm_of_faults(seed: int) -> None:
    """After resets, stale connections, time-outs and cancelled callers every slot is free again."""

    async def fickle(peer: Peer) -> None:
        for number in range(seed + 1):
            await peer.response(OK if number < seed else b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n")
        await asyncio.sleep(0.01 * seed)
        peer.reset()

    async with upstream_to(fickle, max_connections=3, response_timeout=0.1) as (_, upstream):
        calls = [asyncio.create_task(upstream.request(b"GET", b"/", [], b"")) for _ in range(60)]
        for number, call in enumerate(calls):
            await asyncio.sleep(0.001)
            if number % 4 == seed % 4:
                call.cancel()
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            known = (NotReached, OutcomeUnknown, asyncio.CancelledError)
            assert not isinstance(outcome, BaseException) or isinstance(outcome, known)
        await upstream.close()
        assert upstream._slots.free == 3


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
