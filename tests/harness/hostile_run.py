"""A well-behaved partner before and during an attack: how long its calls take, and which events arrive."""

import asyncio
import os
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from tests.harness.eventually import in_background
from tests.harness.hostile_clients import attackers
from tests.harness.http import Client
from tests.harness.process import memory_mb, with_descendants
from tests.harness.raw_http import connect
from tests.harness.receiver import receiving
from tests.harness.system import System
from tests.harness.tenant_fairness import percentile, shown


class Sizes(Struct, frozen=True):
    silent: int
    slow_sending: int
    slow_reading: int
    receivers: int
    seconds: float
    quiet_seconds: float
    hanging_names: int = 0
    keep_alive: int = 0
    large_bodies: int = 0
    pause: float = 0.05


class HostileReport(Struct, kw_only=True):
    quiet: list[float]
    attacked: list[float]
    refused: int
    created: int
    arrived: int
    flooded: int
    newcomers: list[int]
    memory_mb: dict[str, int]

    @property
    def ratio(self) -> float:
        return percentile(self.attacked, 0.99) / percentile(self.quiet, 0.99)

    def text(self) -> str:
        return (
            f"{shown(self.quiet)} before; {shown(self.attacked)} under attack (p99 {self.ratio:.2f} times),"
            f" {self.refused} refused,"
            f" {self.created} leads created, {self.arrived} webhooks arrived beside a flood of {self.flooded}"
            f" events; {self.newcomers.count(200)} of {len(self.newcomers)} new connections from another"
            f" address were served; MB at most: {self.memory_mb}"
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
        await client.create("/webhook-endpoints", {"url": url})
    number = 0
    while True:
        number += 1
        lead = await client.post("/leads", {"email": f"flood{number}-{time.time_ns()}@example.com"})
        if lead.status == 201:
            accepted.append(number)
        await asyncio.sleep(0.01)


async def newcomer(port: int, key: str, statuses: list[int]) -> None:
    """Opens a connection from an address of its own for each request. 0 stands for no response."""
    head = f"GET /partner/v1/studio HTTP/1.1\r\nHost: studio\r\nX-Service-Key: {key}\r\n"
    request = f"{head}Connection: close\r\n\r\n".encode()
    while True:
        status = 0
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(20):
                url = f"http://127.0.0.1:{port}"
                connection = await connect(url, local_address="127.0.22.1")
                await connection.write(request)
                status = int((await connection.response())[9:12] or b"0")
                connection.close()
        statuses.append(status)
        await asyncio.sleep(1)


def keep_apart() -> None:
    """This process and its later children on one core, everything it has started so far on the others."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        return
    for pid in with_descendants(os.getpid())[1:]:
        for task in Path(f"/proc/{pid}/task").glob("*"):
            with suppress(OSError):
                os.sched_setaffinity(int(task.name), cores[1:])
    os.sched_setaffinity(0, cores[:1])


async def watch_memory(pids: dict[str, int], most: dict[str, int]) -> None:
    while True:
        for name, pid in pids.items():
            most[name] = max(most.get(name, 0), int(memory_mb(pid)))
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
    newcomers: list[int] = []
    memory: dict[str, int] = {}
    pids = {name: one.child.pid for name, one in system.running.processes.items() if one.child is not None}
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(receiving())
        await client.create("/webhook-endpoints", {"url": receiver.url, "event_types": ["lead.created"]})
        quiet = await well_behaved(client, sizes.quiet_seconds, sizes.pause, leads, refused)
        assert not refused
        counts = [sizes.silent, sizes.slow_sending, sizes.slow_reading, sizes.keep_alive, sizes.large_bodies]
        large = await system.key(studio=other, client="large")
        new = await system.key(client="new")
        async with attackers(port, counts, sizes.receivers, large) as urls:
            urls += [f"http://hang{number}.example/hook" for number in range(sizes.hanging_names)]
            others = (
                flood(flooding, urls, flooded),
                watch_memory(pids, memory),
                newcomer(port, new, newcomers),
            )
            async with in_background(*others):
                attacked = await well_behaved(client, sizes.seconds, sizes.pause, leads, refused)
        await receiver.until(lambda got: got.count >= len(leads), seconds=120)
        arrived = len({got.event_id for got in receiver.received})
    return HostileReport(
        quiet=quiet,
        attacked=attacked,
        refused=len(refused),
        created=len(leads),
        arrived=arrived,
        flooded=len(flooded),
        newcomers=newcomers,
        memory_mb=memory,
    )
