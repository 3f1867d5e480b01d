"""Two versions side by side, as during an upgrade: both book on the new version's schema.

The old version is a commit of this repository.
"""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import product
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from shared.servers.ports import free_port
from shared.wire import new_id
from tests.harness.bookable_studio import Bookable, bookable
from tests.harness.http import Client
from tests.harness.older_version import older_code
from tests.harness.receiver import Received, receiving
from tests.harness.rolling_restart import Fleet, fleet
from tests.harness.system import Process, System

# The last commit before migration 0008 of bookings, which books several requests in one transaction.
OLD = os.environ.get("STUDIO_OLD_COMMIT", "1cd70aa")
CLASSES, MEMBERS, SEATS = 6, 60, 40


@pytest.fixture
def old_code(tmp_path: Path) -> Iterator[Path]:
    with older_code(OLD, tmp_path / "old") as folder:
        assert not (folder / "services/bookings/migrations/0008_bookings_together.sql").exists()
        yield folder


@pytest.mark.timeout(400)
async def test_old_and_new_bookings_share_a_database_and_the_ledger_balances(
    tmp_path: Path, database_url: str, amqp_url: str, old_code: Path
) -> None:
    """Nothing fails, no class is overbooked, every retry finds the first answer, every event arrives once."""
    async with AsyncExitStack() as stack:
        (tmp_path / "new").mkdir()
        replicas = await stack.enter_async_context(fleet(tmp_path / "new", database_url, amqp_url))
        old = await _start_old(replicas, old_code)
        stack.callback(old.stop)
        receiver = await stack.enter_async_context(receiving())
        session = await stack.enter_async_context(aiohttp.ClientSession())
        system = System(replicas.system, session)
        system.studio_id = await system.new_studio()
        studio = bookable(classes=CLASSES, members=MEMBERS, seats=SEATS)
        await system.import_lines(studio.lines)
        partner = system.partner(await _unlimited_key(system))
        assert (await partner.post("/webhook-endpoints", {"url": receiver.url})).status == 201
        statuses, known = await _book_everything(partner, studio)
        print(f"\n{dict(statuses)}; requests by version: {_shares(replicas, old)}")
        assert set(statuses) == {200, 201} and statuses[201] == CLASSES * MEMBERS, statuses
        assert all(count > 50 for count in _shares(replicas, old).values()), "both versions answered"
        await _balances(database_url, known)
        await _each_shows_what_the_other_wrote(system, partner, studio)
        await receiver.until(lambda got: known <= {_resource(each) for each in got.received}, seconds=60)


async def _start_old(replicas: Fleet, code: Path) -> Process:
    """Another replica behind the same balancer, from the old tree."""
    port = free_port()
    environment = replicas.shared | {"STUDIO_PORT": str(port), "PYTHONPATH": str(code)}
    log = replicas.folder / "old-bookings.log"
    process = Process(["serve", "bookings"], environment, f"http://127.0.0.1:{port}/health/ready", log, code)
    process.start()
    await replicas.balancers["bookings"].until_ready(port)
    return process


async def _book_everything(partner: Client, studio: Bookable) -> tuple[Counter[int], set[str]]:
    """Each member into each class, a third of them cancelled again, each request sent twice."""
    statuses: Counter[int] = Counter()
    known: set[str] = set()
    pairs = iter(list(product(studio.class_ids, studio.member_ids)))

    async def work() -> None:
        for number, (class_id, member_id) in enumerate(pairs):
            body = {"class_id": class_id, "member_id": member_id, "join_waitlist": True}
            booking = await twice("POST", "/bookings", body)
            known.add(booking["id"])
            if number % 3 == 0:
                await twice("DELETE", f"/bookings/{booking['id']}", None)

    async def twice(method: str, path: str, body: Any) -> Any:
        headers = {"Idempotency-Key": new_id()}
        first = await partner.send(method, path, body, headers=headers)
        again = await partner.send(method, path, body, headers=headers)
        statuses[first.status] += 1
        assert (again.status, again.body) == (first.status, first.body), "a retry may meet the other version"
        assert again.headers["Idempotent-Replayed"] == "true", first.body
        return first.json()

    async with asyncio.TaskGroup() as group:
        for _ in range(12):
            group.create_task(work())
    return statuses, known


async def _balances(database_url: str, known: set[str]) -> None:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    try:
        rows = await conn.fetch("SELECT id::text, class_id, status FROM bookings.bookings")
        assert {row["id"] for row in rows} == known
        seated = Counter(row["class_id"] for row in rows if row["status"] == "confirmed")
        waiting = Counter(row["class_id"] for row in rows if row["status"] == "waitlisted")
        counted = await conn.fetch("SELECT id, booked_count FROM bookings.classes")
        assert {row["id"]: row["booked_count"] for row in counted} == seated
        for class_id, seats in seated.items():
            assert seats == SEATS or (seats < SEATS and not waiting[class_id]), (seats, waiting[class_id])
    finally:
        await conn.close()


async def _each_shows_what_the_other_wrote(system: System, partner: Client, studio: Bookable) -> None:
    """Imports and reads reach either version."""
    [line] = [line for line in studio.lines if line["id"] == studio.class_ids[0]]
    seated = (await partner.get(f"/classes/{line['id']}")).json()["booked_count"]
    for number in range(12):
        await system.import_lines([line | {"title": f"Flow {number}"}])
        shown = [(await partner.get(f"/classes/{line['id']}")).json() for _ in range(6)]
        assert {(found["title"], found["booked_count"]) for found in shown} == {(f"Flow {number}", seated)}


def _shares(replicas: Fleet, old: Process) -> dict[str, int]:
    _, new = replicas.replicas["bookings"]
    logs = {"old": old.log.read_text(), "new": new.log.read_text()}
    return {version: text.count('"route":"/bookings') for version, text in logs.items()}


def _resource(got: Received) -> str:
    return str(json.loads(got.body)["resource"]["id"])


async def _unlimited_key(system: System) -> str:
    issued = await system.issue()
    await system.operator.patch(f"/clients/{issued['client_id']}", {"rate": 100_000, "burst": 100_000})
    return str(issued["key"])
