"""What only a running system shows: the files on a booking's way to its webhook, and the background loops.

Five services run over RabbitMQ, with a profiler in each. Bookings are made one at a time. A booking's
interval lasts from its request until its delivery is recorded as succeeded. A function is on the way if it
ran in every booking's interval. So loops that tick anyway fall out, unless they tick all the time: a function
that also ran in every one of as many intervals of the same length without a request does not count.
"""

import asyncio
import json
import re
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
from msgspec import Struct

from bench.system import System as Processes
from bench.working_tree import WorkingTree
from tests.harness.bookable_studio import bookable
from tests.harness.http import created
from tests.harness.receiver import receiving
from tests.harness.servers import choose_postgres, choose_rabbit, running
from tests.harness.system import RunningSystem, System

TRACED = Path(__file__).parent / "traced"
WARM_UP, BOOKINGS = 5, 20
DELIVERED = "SELECT count(*) FROM webhooks.deliveries WHERE status = 'succeeded'"
LOOP = re.compile(r'^studio_loop_age_seconds\{loop="([^"]+)"', re.MULTILINE)

Interval = tuple[float, float]


class Running(Struct):
    way: list[str]
    loops: list[str]


class TracedTree(WorkingTree, frozen=True):
    calls: Path

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        given = super().environment(settings)
        return given | {
            "PYTHONPATH": f"{TRACED}:{given['PYTHONPATH']}",
            "SIZE_REPORT_TREE": str(self.path),
            "SIZE_REPORT_CALLS": str(self.calls),
        }


def measure(tree: WorkingTree, folder: Path) -> Running:
    """Uses only what every commit has: commands, settings, the two APIs and the table of deliveries."""
    for name in ("home", "calls"):
        (folder / name).mkdir(parents=True)
    traced = TracedTree(tree.path, tree.python, folder / "calls")
    with running(choose_postgres) as postgres, running(choose_rabbit) as rabbit:
        processes = Processes(folder / "home", postgres.url_of("postgres"), amqp_url=rabbit.url, tree=traced)
        processes.migrate()
        try:
            processes.serve()
            bookings, control, loops = asyncio.run(_drive(processes))
        finally:
            processes.stop()
    # For each function: its file, and when it ran.
    calls = [row for file in (folder / "calls").iterdir() for row in json.loads(file.read_bytes())]
    way = {file for file, at in calls if _in_every(at, bookings) and not _in_every(at, control)}
    return Running(sorted(way), loops)


async def _drive(processes: Processes) -> tuple[list[Interval], list[Interval], list[str]]:
    token = processes.secrets["STUDIO_OPERATOR_TOKEN"]
    running = RunningSystem(processes.ports["gateway"], processes.operator_port, token, processes.home)
    conn: asyncpg.Connection[Any] = await asyncpg.connect(processes.database_url)
    async with aiohttp.ClientSession() as session, receiving() as receiver:
        system = System(running, session)
        system.studio_id = await system.new_studio()
        studio = bookable(members=WARM_UP + BOOKINGS)
        await system.import_lines(studio.lines)
        partner = system.partner(await system.key())
        endpoint = {"url": receiver.url, "event_types": ["booking.created"]}
        await partner.create("/webhook-endpoints", endpoint)
        bookings: list[Interval] = []
        for delivered, member_id in enumerate(studio.member_ids, start=1):
            start = time.monotonic()
            created(await partner.book(studio.class_ids[0], member_id))
            while await conn.fetchval(DELIVERED) < delivered:
                await asyncio.sleep(0.001)
            bookings.append((start, time.monotonic()))
            # What follows a booking, such as the deletion of its outbox row, must not reach into the next.
            await asyncio.sleep(0.5)
        # The gateway shows its figures to operators only.
        ports = {**processes.ports, "gateway": processes.operator_port}
        loops: list[str] = []
        for port in ports.values():
            async with session.get(f"http://127.0.0.1:{port}/metrics") as response:
                loops += LOOP.findall(await response.text())
    await conn.close()
    bookings = bookings[WARM_UP:]
    longest = max(end - start for start, end in bookings)
    quiet = time.monotonic()
    control = [(quiet + place * longest, quiet + (place + 1) * longest) for place in range(BOOKINGS)]
    await asyncio.sleep(longest * BOOKINGS)
    return bookings, control, sorted(loops)


def _in_every(at: Sequence[float], intervals: Sequence[Interval]) -> bool:
    """`at` is in ascending order."""
    places = ((bisect_left(at, start), end) for start, end in intervals)
    return all(place < len(at) and at[place] <= end for place, end in places)
