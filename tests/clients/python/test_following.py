"""`client.events.follow` of the Python client against a scripted server."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from studio_partner import ApiError, AsyncClient, Client, ConnectionFailed, ResyncNeeded, _exchange
from studio_partner.events import UnknownEvent
from tests.clients.drivers import start_follower
from tests.clients.python.scripted_server import CUT, Scripted, scripted_server, serving
from tests.clients.webhook_cases import EXAMPLES


async def test_a_follower_that_waits_is_stopped_at_once(tmp_path: Path) -> None:
    """Ctrl-C ends a request that waits for events, and not only the time between two."""
    waiting, ended = asyncio.Event(), asyncio.Event()

    async def hold(request: web.Request) -> web.Response:
        waiting.set()
        await ended.wait()
        return web.Response()

    async with serving(hold) as url:
        follower = start_follower(str(tmp_path / "seen"), url, "k")
        await waiting.wait()
        follower.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(follower.wait, 10) == -signal.SIGINT
        ended.set()


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_exchange, "FIRST_DELAY", 0.01)


def page(*sequences: int, latest: int | None = None) -> dict[str, Any]:
    event = EXAMPLES["booking.created"] | {"type": "made_up.kind"}
    newest = latest if latest is not None else max(sequences, default=0)
    return {
        "object": "list",
        "data": [event | {"sequence": sequence} for sequence in sequences],
        "has_more": False,
        "next_cursor": None,
        "latest_sequence": newest,
        "oldest_sequence": 1,
    }


def after(server: Scripted) -> list[str]:
    return [request.target.partition("after_sequence=")[2].partition("&")[0] for request in server.requests]


async def test_an_outage_is_waited_for_once_it_has_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    """More failures than a call has attempts. A follower that never worked says why."""
    monkeypatch.setattr(_exchange, "LONGEST_DELAY", 0.02)
    async with scripted_server() as server:
        server.then(200, page(1, 2))
        for _ in range(10):
            server.then(CUT).then(503, Retry_After="0")
        server.then(200, page(3))
        async with AsyncClient("k", base_url=server.url) as client:
            following = client.events.follow(0)
            assert [(await anext(following)).sequence for _ in range(3)] == [1, 2, 3]
            assert following.position == 3
        assert after(server) == ["0"] + ["2"] * 21
    async with AsyncClient("k", base_url="http://127.0.0.1:9/partner/v1", retries=1) as nowhere:
        with pytest.raises(ConnectionFailed):
            await anext(nowhere.events.follow(0))


async def test_a_follower_goes_on_after_an_error_or_a_timeout_around_it() -> None:
    """A loop that is begun again would otherwise be at its end, without a word."""
    async with scripted_server() as server:
        server.then(200, page(1)).then(500).then(200, page(2, 3)).then(500).then(200, page(4))
        async with AsyncClient("k", base_url=server.url) as client:
            following = client.events.follow(0)
            seen: list[int] = []
            while len(seen) < 3:
                try:
                    async for event in following:
                        seen.append(event.sequence)
                except ApiError:
                    continue
        with Client("k", base_url=server.url) as client:
            blocking = client.events.follow(following.position)
            seen.append((await asyncio.to_thread(next, blocking)).sequence)
            server.answers[:] = [(500, None, {}), (200, page(5), {})]
            with pytest.raises(ApiError):
                await asyncio.to_thread(next, blocking)
            seen.append((await asyncio.to_thread(next, blocking)).sequence)
        assert seen == [1, 2, 3, 4, 5]


async def test_a_long_retry_after_is_waited_for_and_can_be_interrupted() -> None:
    """Where a call would raise: a follower that has worked has nothing better to do."""
    async with scripted_server() as server:
        server.then(200, page(1)).then(503, Retry_After="90").then(200, page(2))
        async with AsyncClient("k", base_url=server.url) as client:
            following = client.events.follow(0)
            await anext(following)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(following), 0.3)
            assert len(server.requests) == 2
            assert (await anext(following)).sequence == 2


async def test_an_empty_page_moves_the_position() -> None:
    """Up to what was the newest then, so that a filter that takes nothing does not fall behind."""
    async with scripted_server() as server:
        server.then(200, page(latest=40)).then(200, page(41))
        with Client("k", base_url=server.url) as client:
            following = client.events.follow(7, type="class.full", wait=5)
            event = await asyncio.to_thread(next, following)
        assert isinstance(event, UnknownEvent)
        assert (str(event), event.type, following.position) == ("made_up.kind", "made_up.kind", 41)
        assert after(server) == ["7", "40"]
        assert all(
            "type=class.full" in request.target and "wait=5" in request.target for request in server.requests
        )


@pytest.mark.parametrize(
    "answer",
    [page(1_000_001), page(latest=1_000_001), page(latest=0), page(1, 2, 1_000_002)],
    ids=["event", "empty", "back", "inside a page"],
)
async def test_a_jump_is_raised(answer: dict[str, Any]) -> None:
    """Forward by a million, or back behind what was seen already."""
    async with scripted_server() as server:
        server.then(200, answer)
        async with AsyncClient("k", base_url=server.url) as client:
            following = client.events.follow(1 if answer["latest_sequence"] != 1_000_002 else 0)
            with pytest.raises(ResyncNeeded) as needed:
                async for _ in following:
                    pass
        assert (needed.value.reason, needed.value.oldest_sequence) == ("jump", 1)
