"""Large answers are streamed, with backpressure from the slower side."""

import asyncio

import pytest

from services.gateway.upstream import OutcomeUnknown, UpstreamAnswer
from services.gateway.upstream.answer import STREAM_THRESHOLD
from tests.services.gateway.upstream.scripted_server import Peer, upstream_to, well_behaved

MIB = 1024 * 1024
TOTAL = 24 * MIB  # more than the kernel's buffers and ours hold together


class Fountain:
    """Sends `TOTAL` bytes and counts how far it got."""

    def __init__(self, stop_after: int = TOTAL) -> None:
        self.sent = 0
        self._stop_after = stop_after

    async def __call__(self, peer: Peer) -> None:
        await peer.answer(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % TOTAL)
        while self.sent < self._stop_after:
            await peer.send(b"x" * 65536)
            self.sent += 65536
        if self._stop_after == TOTAL:
            await well_behaved(peer)

    async def stalled(self) -> None:
        """Returns when the server can send no more."""
        seen = -1
        while seen != self.sent:
            seen = self.sent
            await asyncio.sleep(0.1)


async def drained(answer: UpstreamAnswer) -> int:
    assert answer.stream is not None
    size = len(answer.body)
    async for part in answer.stream:
        size += len(part)
    return size


async def test_a_long_answer_flows_through_and_leaves_the_connection_usable() -> None:
    """All of it arrives, and the connection carries the next request."""
    async with upstream_to(Fountain()) as (server, upstream):
        answer = await upstream.request(b"GET", b"/", [], b"")
        assert len(answer.body) >= STREAM_THRESHOLD
        assert await drained(answer) == TOTAL
        assert (await upstream.request(b"GET", b"/", [], b"")).body == b"ok"
        assert server.connections == 1


async def test_a_caller_that_does_not_read_holds_the_service_back() -> None:
    """Memory is bounded: the service waits, and continues when the caller does."""
    fountain = Fountain()
    async with upstream_to(fountain) as (_, upstream):
        answer = await upstream.request(b"GET", b"/", [], b"")
        await fountain.stalled()
        assert fountain.sent < TOTAL - 8 * MIB
        assert await drained(answer) == TOTAL


async def test_a_slow_caller_does_not_use_up_the_services_time() -> None:
    """A caller may read for longer than the answer timeout without failing the service."""
    async with upstream_to(Fountain(), answer_timeout=1.0, read_timeout=2.0) as (_, upstream):
        answer = await upstream.request(b"GET", b"/", [], b"")
        assert answer.stream is not None
        size, began = len(answer.body), asyncio.get_running_loop().time()
        async for part in answer.stream:
            size += len(part)
            if asyncio.get_running_loop().time() - began < 1.5:
                await asyncio.sleep(0.2)
        assert size == TOTAL


async def test_a_caller_that_never_reads_gives_its_connection_up() -> None:
    """An unread answer must not hold a slot forever."""
    fountain = Fountain()
    async with upstream_to(fountain, well_behaved, answer_timeout=0.2, max_connections=1) as (_, upstream):
        answer = await upstream.request(b"GET", b"/", [], b"")
        assert (await upstream.request(b"GET", b"/", [], b"")).body == b"ok"
        with pytest.raises(OutcomeUnknown):
            await drained(answer)


async def test_a_long_answer_that_breaks_off_is_not_taken_for_whole() -> None:
    """The status has gone out: the gateway must break its own answer off too."""
    async with upstream_to(Fountain(stop_after=2 * MIB)) as (_, upstream):
        with pytest.raises(OutcomeUnknown):
            await drained(await upstream.request(b"GET", b"/", [], b""))


@pytest.mark.parametrize("politely", [True, False])
async def test_a_caller_that_leaves_in_the_middle_takes_the_connection_along(politely: bool) -> None:
    """Closed or cancelled: the slot is free, and the tail of the answer reaches nobody."""

    async def stuck(peer: Peer) -> None:
        await peer.answer(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % TOTAL + b"x" * STREAM_THRESHOLD)
        await peer.closed()

    async with upstream_to(stuck, well_behaved, max_connections=1) as (server, upstream):
        answer = await upstream.request(b"GET", b"/", [], b"")
        assert answer.stream is not None
        if politely:
            await answer.stream.aclose()
        else:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await drained(answer)
        await server.left.acquire()
        assert (await upstream.request(b"GET", b"/", [], b"")).body == b"ok"
