"""2,000 requests wait for events, of 200 clients in 200 studios, while 50 events a second arrive.

STUDIO_FOLLOWERS_SECONDS shortens it, to see that it runs.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec import Struct

from shared.wire import new_id
from tests.harness.databases import connected
from tests.harness.eventually import in_background
from tests.harness.http import Client
from tests.harness.process import memory_mb
from tests.harness.receiver import Receiver, receiving
from tests.harness.system import RunningSystem, System, separate_services
from tests.harness.tenant_fairness import percentile

SECONDS = float(os.environ.get("STUDIO_FOLLOWERS_SECONDS", "120"))
STUDIOS = 200
EACH = 10
EVENTS_PER_SECOND = 50
# A port takes 512 connections from an address.
ADDRESSES = 8
CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity WHERE usename = 'studio_webhooks' AND state <> 'idle'
"""


class Measured(Struct):
    """Seconds, from before the write of a lead until its event is here."""

    written: dict[str, float] = {}
    followed: list[float] = []
    other: list[float] = []


@asynccontextmanager
async def sessions() -> AsyncIterator[list[aiohttp.ClientSession]]:
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(limit=0, local_addr=(f"127.0.40.{number + 1}", 0)),
                    timeout=aiohttp.ClientTimeout(total=60),
                )
            )
            for number in range(ADDRESSES)
        ]


async def follow(one: Client, measured: Measured) -> None:
    after = 0
    while True:
        page = (await one.get("/events", after_sequence=after, wait=25)).json()
        now = time.perf_counter()
        for event in page["data"]:
            if (began := measured.written.get(event["data"]["object"].get("email", ""))) is not None:
                measured.followed.append(now - began)
        after = page["data"][-1]["sequence"] if page["has_more"] else page["latest_sequence"]


async def write(studios: list[Client], measured: Measured, seconds: float) -> int:
    """As many as can be written at this rate, each in the next studio."""
    began, count = time.monotonic(), 0
    running: set[asyncio.Task[Any]] = set()
    while time.monotonic() - began < seconds:
        email = f"{new_id()}@example.com"
        measured.written[email] = time.perf_counter()
        task = asyncio.create_task(studios[count % STUDIOS].create("/leads", {"email": email}))
        running.add(task)
        task.add_done_callback(running.discard)
        count += 1
        await asyncio.sleep(max(0.0, began + count / EVENTS_PER_SECOND - time.monotonic()))
    await asyncio.gather(*running)
    return count


async def read_the_studio(client: Client, taken: list[float], seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        began = time.perf_counter()
        assert (await client.get("/studio")).status == 200
        taken.append(time.perf_counter() - began)
        await asyncio.sleep(0.05)


async def received(receiver: Receiver, measured: Measured, count: int) -> list[float]:
    """The same, for webhooks."""
    await receiver.until(lambda got: got.count >= count, seconds=60)
    emails = [(json.loads(got.body)["data"]["object"]["email"], got.at) for got in receiver.received]
    return [at - measured.written[email] for email, at in emails]


def memory(running: RunningSystem) -> dict[str, float]:
    pids = {name: running.processes[name].child for name in ("gateway", "webhooks")}
    return {name: memory_mb(child.pid) for name, child in pids.items() if child is not None}


@pytest.mark.timeout(1200)
async def test_two_thousand_followers(database_url: str, amqp_url: str, tmp_path: Path) -> None:
    """An event is here within twice the time of a webhook, and nobody else waits twice as long."""
    with separate_services(tmp_path, database_url, amqp_url, STUDIO_MAX_CONNECTIONS="8192") as running:
        async with sessions() as opened, receiving() as receiver:
            systems = [System(running, session) for session in opened]
            studios = []
            for number in range(STUDIOS):
                system = systems[number % ADDRESSES]
                studio = await system.new_studio()
                issued = await system.issue(studio=studio, client="follower")
                await system.limit(issued)
                studios.append(system.partner(issued["key"]))
            other = studios[0]
            measured = Measured()

            # Webhooks first: the same writes with an endpoint in each studio, and nobody waits.
            wanted = {"url": receiver.url, "event_types": ["lead.created"]}
            ids = [await one.create("/webhook-endpoints", wanted) for one in studios]
            quiet: list[float] = []
            alone = Measured()
            length = min(30.0, SECONDS)
            async with in_background(read_the_studio(other, quiet, length)):
                count = await write(studios, alone, length)
            webhooks = await received(receiver, alone, count)
            for one, endpoint in zip(studios, ids, strict=True):
                await one.delete(f"/webhook-endpoints/{endpoint['id']}")

            before = memory(running)
            waits = [follow(one, measured) for one in studios for _ in range(EACH)]
            async with in_background(*waits), connected(running.database_url("webhooks")) as conn:
                await asyncio.sleep(15)
                measured.followed.clear()
                growth = {name: used - before[name] for name, used in memory(running).items()}
                held = await conn.fetchval(CONNECTIONS)
                async with in_background(read_the_studio(other, measured.other, SECONDS)):
                    count = await write(studios, measured, SECONDS)
                await asyncio.sleep(2)
                latest = {name: used - before[name] for name, used in memory(running).items()}
    p99 = percentile(measured.followed, 0.99)
    each = {name: max(growth[name], latest[name]) * 1024 / (STUDIOS * EACH) for name in growth}
    ratio = percentile(measured.other, 0.99) / percentile(quiet, 0.99)
    shown = [
        f"p50 {percentile(one, 0.5) * 1000:.0f} p99 {percentile(one, 0.99) * 1000:.0f} ms"
        for one in (measured.followed, webhooks)
    ]
    print(
        f"\n{count} events, {len(measured.followed)} receipts: {shown[0]}; webhooks {shown[1]};"
        f" other requests' p99 {ratio:.2f} times; {held} busy connections; KB for each that waits: {each}"
    )
    assert len(measured.followed) == count * EACH, "each of them was told of each event, once"
    assert p99 < 2 * percentile(webhooks, 0.99)
    assert max(each.values()) < 40
    assert held <= 2
    assert ratio < 2
