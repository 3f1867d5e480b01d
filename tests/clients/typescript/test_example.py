"""examples/booking_page.mjs: a booking page's back end, run against the system."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.servers.ports import free_port
from tests.clients.typescript.node_programs import Node
from tests.harness.bookable_studio import bookable
from tests.harness.eventually import eventually
from tests.harness.http import Client
from tests.harness.process import ROOT
from tests.harness.system import System

EXAMPLE = ROOT / "examples/booking_page.mjs"


@asynccontextmanager
async def running(node: Node, system: System) -> AsyncIterator[tuple[Client, subprocess.Popen[str]]]:
    shutil.copy(EXAMPLE, node.folder)
    port = free_port()
    settings = {"STUDIO_URL": f"{system.running.partner_url}/partner/v1", "STUDIO_KEY": await system.key()}
    process = node.start("booking_page.mjs", PORT=str(port), **settings)
    try:
        assert process.stdout is not None
        assert "listening" in await asyncio.to_thread(process.stdout.readline)
        yield system.client(f"http://127.0.0.1:{port}", {}), process
    finally:
        process.kill()
        process.communicate()


async def test_a_booking_page_books_once_and_stays_up_to_date(node: Node, system: System) -> None:
    """List, hold, confirm, refuse, wait, cancel; the copy follows; a webhook that is not ours is refused."""
    studio = bookable(seats=1)
    await system.import_lines(studio.lines)
    [class_id] = studio.class_ids
    async with running(node, system) as (page, process):
        await free_seats(page, 1)
        ada = {"class_id": class_id, "email": "ada@example.com", "first_name": "Ada", "last_name": "King"}
        twice = [
            (await page.post("/bookings", ada, headers={"Idempotency-Key": "a-click-0001"})).json()
            for _ in range(2)
        ]
        assert twice[0] == twice[1]
        assert twice[0]["status"] == "held"
        await free_seats(page, 0)
        paid = await page.put(f"/bookings/{twice[0]['id']}")
        assert (paid.status, paid.json()["status"]) == (200, "confirmed")
        again = await page.put(f"/bookings/{twice[0]['id']}")
        assert (again.status, again.json()["code"]) == (409, "booking_not_held")
        ben = ada | {"email": "ben@example.com", "first_name": "Ben"}
        full = await page.post("/bookings", ben)
        assert (full.status, full.json()["code"]) == (409, "class_full")
        waiting = await page.post("/bookings", ben | {"join_waitlist": True})
        assert (waiting.status, waiting.json()["waitlist_position"]) == (201, 1)
        assert (await page.post("/hooks", {"type": "booking.confirmed"})).status == 400
        cancelled = await page.delete(f"/bookings/{twice[0]['id']}")
        assert (cancelled.status, cancelled.json()["object"]) == (200, "booking_cancellation")
        assert process.stdout is not None
        told = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), 30)
        assert waiting.json()["member_id"] in told
        assert (await page.post("/bookings", raw=b"{", headers={})).status == 400
        await page.delete(f"/bookings/{waiting.json()['id']}")
        await free_seats(page, 1)


async def free_seats(page: Client, count: int) -> None:
    async def look() -> bool:
        reply = await page.get("/classes")
        return reply.status == 200 and [one["available_count"] for one in reply.json()] == [count]

    await eventually(look)


def test_it_is_short() -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 150
