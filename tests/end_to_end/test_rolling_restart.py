"""Every service is replaced, on a schema one release ahead, under constant load: no request fails."""

import asyncio
import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from shared.settings import SERVICES
from shared.wire import new_id
from tests.harness.bookable_studio import bookable
from tests.harness.databases import connected
from tests.harness.http import Client
from tests.harness.receiver import Receiver, receiving
from tests.harness.rolling_restart import Fleet, fleet
from tests.harness.system import new_studio_in

READS = ("/studio", "/classes", "/forms", "/events", "/products", "/bookings")


class Load:
    """Partners that hardly pause. The test judges only the responses that they got."""

    def __init__(self, partner: Client, pairs: list[tuple[str, str]]) -> None:
        self.partner = partner
        self.pairs = iter(pairs)
        self.statuses: Counter[int] = Counter()
        self.failures: list[str] = []
        self.booked: set[str] = set()
        self.over = False

    async def write(self) -> None:
        for class_id, member_id in self.pairs:
            if self.over:
                return
            await self._send("POST", "/bookings", {"class_id": class_id, "member_id": member_id})
            await asyncio.sleep(0.1)

    async def read(self, offset: int) -> None:
        while not self.over:
            for path in (*READS[offset:], *READS[:offset]):
                await self._send("GET", path)
                await asyncio.sleep(0.1)

    async def _send(self, method: str, path: str, body: Any = None) -> None:
        try:
            reply = await self.partner.send(method, path, body, headers={"Idempotency-Key": new_id()})
        except (aiohttp.ClientError, TimeoutError, OSError) as problem:
            self.failures.append(f"{method} {path}: {problem!r}")
            return
        self.statuses[reply.status] += 1
        if reply.status == 201:
            self.booked.add(reply.json()["id"])
        if reply.status not in (200, 201):
            self.failures.append(f"{method} {path}: {reply.status} {reply.body[:300]!r}")


@pytest.mark.timeout(500)
async def test_a_rolling_restart_of_every_service_fails_no_request_and_loses_nothing(
    tmp_path: Path, database_url: str, amqp_url: str
) -> None:
    """A new replica starts, the old one is stopped, one service after the other."""
    async with (
        fleet(tmp_path, database_url, amqp_url, STUDIO_DRAIN_SECONDS="5") as replicas,
        receiving() as receiver,
        new_studio_in(replicas.system, timeout=aiohttp.ClientTimeout(total=15)) as system,
    ):
        studio = bookable(classes=100, members=100)
        await system.import_lines(studio.lines)
        issued = await system.issue()
        await system.limit(issued)
        partner = system.partner(issued["key"])
        await partner.create("/webhook-endpoints", {"url": receiver.url})
        load = Load(partner, list(product(studio.class_ids, studio.member_ids)))
        working = [asyncio.create_task(load.write()) for _ in range(3)]
        working += [asyncio.create_task(load.read(offset)) for offset in range(3)]
        before = dict(replicas.replicas)
        await _next_release_migrates(database_url)
        await replicas.roll(SERVICES)
        load.over = True
        await asyncio.gather(*working)
        _everything_went_well(replicas, load, before)
        await _everything_arrived(load, partner, receiver)


async def _next_release_migrates(database_url: str) -> None:
    """Adds a column that this code does not know to every table, as the next release might."""
    named = (
        "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND relnamespace::regnamespace::text = ANY($1::text[])"
    )
    add = "ALTER TABLE {name} ADD COLUMN next_release text NOT NULL DEFAULT 'new'"
    async with connected(database_url) as conn:
        tables = await conn.fetch(named, list(SERVICES))
        assert len(tables) > 30
        for table in tables:
            await conn.execute(add.format(name=table["name"]))


def _everything_went_well(replicas: Fleet, load: Load, before: dict[str, Any]) -> None:
    assert load.failures == [], (len(load.failures), load.statuses, load.failures[:5])
    assert load.statuses[201] > 100 and load.statuses[200] > 200, load.statuses
    assert all(replicas.replicas[name][0] != before[name][0] for name in before), "every service is a new one"
    assert set(replicas.exit_codes.values()) == {0}, replicas.exit_codes


async def _everything_arrived(load: Load, partner: Client, receiver: Receiver) -> None:
    """Each confirmed booking exists, and its event reached the receiver."""
    listed = await partner.everything("/bookings", limit=200)
    assert {booking["id"] for booking in listed} == load.booked
    await receiver.until(lambda got: load.booked <= _told(got), seconds=60)


def _told(receiver: Receiver) -> set[str]:
    return {json.loads(got.body)["resource"]["id"] for got in receiver.received}
