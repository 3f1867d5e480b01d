"""examples/booking_page.py and .mjs: a booking page's back end, run against the system."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web

from shared.servers.ports import free_port
from tests.clients.drivers import with_source
from tests.clients.later_version import answers
from tests.clients.python.scripted_server import serving
from tests.harness.bookable_studio import bookable
from tests.harness.eventually import eventually
from tests.harness.http import Client
from tests.harness.process import ROOT
from tests.harness.system import System

PYTHON = [sys.executable, str(ROOT / "examples/booking_page.py")]


@pytest.fixture(params=["python", "typescript"])
def command(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "python":
        return PYTHON
    node = request.getfixturevalue("node")
    return [str(node.node), str(shutil.copy(ROOT / "examples/booking_page.mjs", node.folder))]


@asynccontextmanager
async def running(
    command: list[str], system: System, **settings: str
) -> AsyncIterator[tuple[Client, "subprocess.Popen[str]"]]:
    port, url = free_port(), f"{system.running.partner_url}/partner/v1"
    known = {"STUDIO_URL": url, "STUDIO_KEY": await system.key(), "PORT": str(port)}
    environment = with_source() | known | settings
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        # What its copy says of an error may come first, or on the same line: two threads print.
        while "listening" not in (line := await asyncio.to_thread(process.stdout.readline)):
            assert line, "the example ended"
        yield system.client(f"http://127.0.0.1:{port}", {}), process
    finally:
        process.kill()
        process.communicate()


async def test_a_booking_page_books_once_and_stays_up_to_date(command: list[str], system: System) -> None:
    """List, hold, confirm, refuse, wait, cancel; the copy follows; a webhook that is not ours is refused."""
    studio = bookable(seats=1)
    await system.import_lines(studio.lines)
    [class_id] = studio.class_ids
    async with running(command, system) as (page, process):
        await free_seats(page, 1)
        ada = {"class_id": class_id, "email": "ada@example.com", "first_name": "Ada", "last_name": "King"}
        twice = [await page.post("/bookings", ada, headers={"Idempotency-Key": "a-click-0001"}) for _ in "12"]
        assert twice[0].json() == twice[1].json()
        assert twice[0].json()["status"] == "held"
        await free_seats(page, 0)
        paid = await page.put(f"/bookings/{twice[0].json()['id']}")
        assert (paid.status, paid.json()["status"]) == (200, "confirmed")
        again = await page.put(f"/bookings/{twice[0].json()['id']}")
        assert (again.status, again.json()["code"]) == (409, "booking_not_held")
        ben = ada | {"email": "ben@example.com", "first_name": "Ben"}
        full = await page.post("/bookings", ben)
        assert (full.status, full.json()["code"]) == (409, "class_full")
        waiting = (await page.post("/bookings", ben | {"join_waitlist": True})).json()
        assert waiting["waitlist_position"] == 1
        assert (await page.post("/hooks", {"type": "booking.confirmed"})).status == 400
        cancelled = await page.delete(f"/bookings/{twice[0].json()['id']}")
        assert (cancelled.status, cancelled.json()["object"]) == (200, "booking_cancellation")
        assert process.stdout is not None
        told = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), 30)
        assert waiting["member_id"] in told
        assert (await page.post("/bookings", raw=b"{")).status == 400
        if command is PYTHON:
            assert (await page.delete("/bookings/")).status == 400
        await page.delete(f"/bookings/{waiting['id']}")
        await free_seats(page, 1)


async def test_its_copy_outlives_an_error_of_the_studio(system: System) -> None:
    """A thread that has ended would leave a page that grows old without a word."""
    known, failed = answers(), 0

    async def studio(request: web.Request) -> web.Response:
        nonlocal failed
        path = request.path.removeprefix("/partner/v1")
        if path == "/events" and (failed := failed + 1) == 1:
            return web.Response(status=500)
        if "wait" in request.query:
            await asyncio.sleep(0.2)
        status, body = known[request.method, path]
        if path == "/classes":
            rows: Any = [one | {"start_time": tomorrow, "available_count": 3} for one in body["data"][:1]]
            body = body | {"data": rows, "has_more": False, "next_cursor": None}
        return web.json_response(body | ({"data": []} if path == "/events" else {}), status=status)

    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    async with serving(studio) as url, running(PYTHON, system, STUDIO_URL=url) as (page, _):
        await free_seats(page, 3)


async def free_seats(page: Client, count: int) -> None:
    async def look() -> bool:
        reply = await page.get("/classes")
        return reply.status == 200 and [one["available_count"] for one in reply.json()] == [count]

    await eventually(look)
