"""The service is killed at each stage of a write; a retry with the same key completes it once.

The process that is killed is another one; the retry goes to the service in this process.
"""

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable
from functools import partial
from multiprocessing.context import ForkServerProcess
from typing import Any

import aiohttp
import pytest

from services.bookings.context import Bookings
from shared.http.caller import CALLER_HEADER, CallerSigner
from shared.servers.ports import free_port
from shared.wire import new_id
from tests.services.bookings import killed_service
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.holding import held, run_out
from tests.services.bookings.killed_service import Stage
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.studio_client import StudioClient

Write = Callable[..., Awaitable[int]]
SECRET = "a caller key for this test alone"
# One process imports the service, and each that is killed is a fork of it.
FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload([killed_service.__name__])


async def end(child: ForkServerProcess) -> None:
    child.kill()
    await asyncio.to_thread(child.join)


async def start_killable(
    url: str, port: int, session: aiohttp.ClientSession, fatal: Stage | None = None
) -> ForkServerProcess:
    child = FORKED.Process(target=killed_service.serve, args=(url, port, SECRET, fatal))
    await asyncio.to_thread(child.start)
    while True:
        assert child.is_alive(), "the service did not start"
        try:
            async with session.get(f"http://127.0.0.1:{port}/health/ready"):
                return child
        except aiohttp.ClientError:
            await asyncio.sleep(0.05)


async def send_and_kill(client: StudioClient, url: str, stage: Stage, key: str, *request: Any) -> None:
    """The request goes to a service of its own, which must have killed itself by the end."""
    port, (method, path, body) = free_port(), request
    signed = CallerSigner((SECRET,)).sign(client.caller).decode()
    headers = {CALLER_HEADER.decode(): signed, "Idempotency-Key": key}
    async with aiohttp.ClientSession(headers=headers) as session:
        child = await start_killable(url, port, session, stage)
        try:
            with pytest.raises(aiohttp.ClientError):
                await session.request(method, f"http://127.0.0.1:{port}{path}", json=body)
            await asyncio.to_thread(child.join, 10)
            assert child.exitcode == -9
        finally:
            await end(child)


async def kept_bodies(service: Bookings, key: str) -> list[bytes]:
    async with service.db.connection() as conn:
        rows = await conn.fetch("SELECT body FROM idempotency_keys WHERE key = $1", key)
    return [row["body"] for row in rows]


async def killed_and_retried(
    client: StudioClient, url: str, stage: Stage, method: str, path: str, body: Any = None
) -> int:
    """The status of the retries, which have the bytes of the first response, whether it got out or not."""
    key = new_id()
    await send_and_kill(client, url, stage, key, method, path, body)
    first = await kept_bodies(client.service, key)
    assert len(first) == (1 if stage is Stage.COMMITTED else 0)
    assert await inconsistencies(client) == [], "nothing is half done"
    retried, again = [await client.call(method, path, body, key=key) for _ in range(2)]
    assert (retried.replayed, again.replayed) == (stage is Stage.COMMITTED, True)
    assert (again.status, again.body) == (retried.status, retried.body)
    assert first in ([], [retried.body])
    assert await kept_bodies(client.service, key) == [retried.body]
    assert await inconsistencies(client) == []
    return retried.status


@pytest.fixture(params=list(Stage))
def write(client: StudioClient, database_url: str, request: pytest.FixtureRequest) -> Write:
    return partial(killed_and_retried, client, database_url, request.param)


async def test_a_booking_killed_at_any_stage_happens_once(client: StudioClient, write: Write) -> None:
    """One booking, one event."""
    class_, (member,) = await client.open_class(capacity=3)
    body = {"class_id": class_["id"], "member_id": member["id"]}
    assert await write("POST", "/bookings", body) == 201
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 1
    assert len(await client.list_all("/bookings")) == 1
    assert [event["type"] for event in await client.events()] == ["booking.created"]


async def test_a_late_confirm_killed_at_any_stage_happens_once(client: StudioClient, write: Write) -> None:
    """What has run out is ended and confirmed in one transaction, or not at all."""
    class_, (member,) = await client.open_class()
    booking = await held(client, class_, member)
    await run_out(client, booking)
    path = f"/bookings/{booking['id']}/confirm"
    assert await write("POST", path) == 200
    told = [event["type"] for event in await client.events()]
    assert told == ["booking.held", "class.full", "booking.expired", "booking.created"]


async def test_a_cancellation_killed_at_any_stage_happens_once(client: StudioClient, write: Write) -> None:
    """One receipt, one promotion, one event of each kind."""
    class_, people = await client.open_class(people=2)
    held = await client.seated(class_, people)
    path = f"/bookings/{held[0]['id']}"
    assert await write("DELETE", path) == 200
    assert await client.statuses(*held) == ["cancelled", "confirmed"]
    told = [event["type"] for event in await client.events()]
    assert (told.count("booking.cancelled"), told.count("booking.confirmed")) == (1, 1)


async def test_a_move_killed_at_any_stage_happens_once(client: StudioClient, write: Write) -> None:
    """One move, one promotion, one event of each kind; never a seat in both classes or in none."""
    old, new, people = a_class(), a_class(), [a_member() for _ in range(2)]
    await client.import_all(old, new, *people)
    held = await client.seated(old, people)
    path, body = f"/bookings/{held[0]['id']}/reschedule", {"class_id": new["id"]}
    assert await write("POST", path, body) == 200
    shown = [await client.get_ok(f"/bookings/{booking['id']}") for booking in held]
    assert [(one["class_id"], one["status"]) for one in shown] == [
        (new["id"], "confirmed"),
        (old["id"], "confirmed"),
    ]
    assert len(await client.list_all(f"/bookings/{held[0]['id']}/reschedules")) == 1
    told = [event["type"] for event in await client.events()]
    assert (told.count("booking.rescheduled"), told.count("booking.confirmed")) == (1, 1)
