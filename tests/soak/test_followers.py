"""2,000 requests wait for events, of 200 clients in 200 studios, while 50 events a second arrive.

STUDIO_FOLLOWERS_SECONDS shortens it, to see that it runs.
"""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from shared.wire import new_id
from tests.harness.databases import connected
from tests.harness.http import Client
from tests.harness.process import memory_mb
from tests.harness.receiver import Receiver, receiving
from tests.harness.system import RunningSystem, System, separate_services
from tests.harness.tenant_fairness import percentile, shown
from tests.soak.clients_apart import Work, clients_apart

SECONDS = float(os.environ.get("STUDIO_FOLLOWERS_SECONDS", "120"))
STUDIOS = 200
EACH = 10
EVENTS_PER_SECOND = 50
CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity WHERE usename = 'studio_webhooks' AND state <> 'idle'
"""


async def write(studios: list[Client], seconds: float) -> dict[str, float]:
    """As many leads as can be written at this rate, each in the next studio: when each was begun."""
    began = time.monotonic()
    written: dict[str, float] = {}
    running: set[asyncio.Task[Any]] = set()
    while time.monotonic() - began < seconds:
        email = f"{new_id()}@example.com"
        studio = studios[len(written) % STUDIOS]
        written[email] = time.perf_counter()
        task = asyncio.create_task(studio.create("/leads", {"email": email}))
        running.add(task)
        task.add_done_callback(running.discard)
        await asyncio.sleep(max(0.0, began + len(written) / EVENTS_PER_SECOND - time.monotonic()))
    await asyncio.gather(*running)
    return written


async def received(receiver: Receiver, written: dict[str, float]) -> list[float]:
    """Seconds, from before the write of a lead until its event is here."""
    await receiver.until(lambda got: got.count >= len(written), seconds=60)
    emails = [(json.loads(got.body)["data"]["object"]["email"], got.at) for got in receiver.received]
    return [at - written[email] for email, at in emails]


def memory(running: RunningSystem) -> dict[str, float]:
    pids = {name: running.processes[name].child for name in ("gateway", "webhooks")}
    return {name: memory_mb(child.pid) for name, child in pids.items() if child is not None}


@pytest.mark.timeout(1200)
async def test_two_thousand_followers(database_url: str, amqp_url: str, tmp_path: Path) -> None:
    """An event is here within twice the time of a webhook, and nobody else waits twice as long."""
    with separate_services(tmp_path, database_url, amqp_url, STUDIO_MAX_CONNECTIONS="8192") as running:
        async with aiohttp.ClientSession() as session, receiving() as receiver:
            system = System(running, session)
            keys = []
            for _ in range(STUDIOS):
                issued = await system.issue(studio=await system.new_studio(), client="follower")
                await system.limit(issued)
                keys.append(issued["key"])
            studios = [system.partner(key) for key in keys]
            url = f"{running.partner_url}/partner/v1"
            other = Work(url, keys[:1], ["127.0.41.1"])

            # Webhooks first: the same writes with an endpoint in each studio, and nobody waits.
            wanted = {"url": receiver.url, "event_types": ["lead.created"]}
            ids = [await one.create("/webhook-endpoints", wanted) for one in studios]
            async with clients_apart([other]) as quiet:
                webhooks = await received(receiver, await write(studios, SECONDS))
            for one, endpoint in zip(studios, ids, strict=True):
                await one.delete(f"/webhook-endpoints/{endpoint['id']}")

            before = memory(running)
            works = [
                Work(url, keys[half::2], [f"127.0.40.{half * 4 + place}" for place in range(1, 5)], EACH)
                for half in (0, 1)
            ]
            async with clients_apart(works) as followers, connected(running.database_url("webhooks")) as conn:
                await asyncio.sleep(20)
                growth = {name: used - before[name] for name, used in memory(running).items()}
                held = await conn.fetchval(CONNECTIONS)
                async with clients_apart([other]) as meanwhile:
                    written = await write(studios, SECONDS)
                await asyncio.sleep(2)
                latest = {name: used - before[name] for name, used in memory(running).items()}
    followed = [at - written[email] for email, at in followers.events if email in written]
    p99 = percentile(followed, 0.99)
    each = {name: max(growth[name], latest[name]) * 1024 / (STUDIOS * EACH) for name in growth}
    ratio = percentile(meanwhile.seconds, 0.99) / percentile(quiet.seconds, 0.99)
    print(
        f"\n{len(written)} events, receipts: {shown(followed)}; webhooks: {shown(webhooks)};"
        f" other requests: {shown(meanwhile.seconds)}; alone: {shown(quiet.seconds)}; p99 {ratio:.2f} times;"
        f" {held} busy connections; KB for each that waits: {each}"
    )
    assert len(followed) == len(written) * EACH, "each of them was told of each event, once"
    assert p99 < 2 * percentile(webhooks, 0.99)
    assert max(each.values()) < 40
    assert held <= 2
    assert ratio < 2
