"""A well-behaved partner before and during an attack: how long its calls take, and which events arrive."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from tests.harness.hanging_names import hanging_urls
from tests.harness.hostile_clients import attackers
from tests.harness.http import Client
from tests.harness.receiver import receiving
from tests.harness.system import System
from tests.harness.tenant_fairness import percentile


class Sizes(Struct, frozen=True):
    silent: int
    slow_sending: int
    slow_reading: int
    receivers: int
    seconds: float
    quiet_seconds: float
    hanging_names: int = 0
    pause: float = 0.05


class HostileReport(Struct, kw_only=True):
    quiet: list[float]
    attacked: list[float]
    refused: int
    created: int
    arrived: int
    flooded: int
    memory_mb: dict[str, int]

    @property
    def ratio(self) -> float:
        return percentile(self.attacked, 0.99) / percentile(self.quiet, 0.99)

    def text(self) -> str:
        return (
            f"p99 {percentile(self.quiet, 0.99) * 1000:.0f} ms before,"
            f" {percentile(self.attacked, 0.99) * 1000:.0f} ms under attack ({self.ratio:.2f} times),"
            f" {len(self.attacked)} calls, {self.refused} refused,"
            f" {self.created} leads created, {self.arrived} webhooks arrived beside a flood of {self.flooded}"
            f" events; MB at most: {self.memory_mb}"
        )


async def well_behaved(
    client: Client, seconds: float, pause: float, leads: list[str], refused: list[int]
) -> list[float]:
    """Creates a lead, reads the studio, and notes how long each took."""
    taken = []
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        began = time.perf_counter()
        lead = await client.post("/leads", {"email": f"lead{len(leads)}-{time.time_ns()}@example.com"})
        if lead.status == 201:
            leads.append(lead.json()["id"])
        else:
            refused.append(lead.status)
        if (read := await client.get("/studio")).status != 200:
            refused.append(read.status)
        taken.append((time.perf_counter() - began) / 2)
        await asyncio.sleep(pause)
    return taken


async def flood(client: Client, urls: list[str], accepted: list[int]) -> None:
    """Registers another client's endpoints at the hostile receivers, and publishes events for all of them."""
    for url in urls:
        made = await client.post("/webhook-endpoints", {"url": url})
        assert made.status == 201, made.body
    number = 0
    while True:
        number += 1
        lead = await client.post("/leads", {"email": f"flood{number}-{time.time_ns()}@example.com"})
        if lead.status == 201:
            accepted.append(number)
        await asyncio.sleep(0.01)


def resident_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(resident.split()[1]) // 1024


async def watch_memory(pids: dict[str, int], most: dict[str, int]) -> None:
    while True:
        for name, pid in pids.items():
            most[name] = max(most.get(name, 0), resident_mb(pid))
        await asyncio.sleep(0.5)


async def run_hostile(system: System, sizes: Sizes) -> HostileReport:
    port = urlsplit(system.running.partner_url).port
    assert port is not None
    client = system.partner(await system.key())
    other = await system.new_studio()
    flooding = system.partner(await system.key(studio=other, client="flood"))
    leads: list[str] = []
    refused: list[int] = []
    flooded: list[int] = []
    memory: dict[str, int] = {}
    pids = {name: one.child.pid for name, one in system.running.processes.items() if one.child is not None}
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(receiving())
        made = await client.post("/webhook-endpoints", {"url": receiver.url, "event_types": ["lead.created"]})
        assert made.status == 201, made.body
        quiet = await well_behaved(client, sizes.quiet_seconds, sizes.pause, leads, refused)
        assert not refused
        counts = [sizes.silent, sizes.slow_sending, sizes.slow_reading]
        async with attackers(port, counts, sizes.receivers) as (urls, start):
            start.set()
            background: list[asyncio.Task[Any]] = [
                asyncio.create_task(flood(flooding, [*urls, *hanging_urls(sizes.hanging_names)], flooded)),
                asyncio.create_task(watch_memory(pids, memory)),
            ]
            attacked = await well_behaved(client, sizes.seconds, sizes.pause, leads, refused)
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        await receiver.until(lambda got: got.count >= len(leads), seconds=120)
        arrived = len({got.event_id for got in receiver.received})
    return HostileReport(
        quiet=quiet,
        attacked=attacked,
        refused=len(refused),
        created=len(leads),
        arrived=arrived,
        flooded=len(flooded),
        memory_mb=memory,
    )
