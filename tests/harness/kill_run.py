"""Kills replicas of every role and broker nodes in turn, during an upgrade, while events are written."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aio_pika
import aiohttp
import asyncpg

from shared.servers.postgres import EmbeddedPostgres
from tests.harness.broker_cluster import NODES, BrokerCluster, Version, broker_cluster
from tests.harness.event_writer import EventWriter
from tests.harness.eventually import eventually
from tests.harness.kill_report import KillReport, audit
from tests.harness.replicas import OLDER_ROLES, ROLES, SINGLE, Replicas, replicas
from tests.harness.system import System
from tests.harness.takeover import TakeoverWatch
from tests.harness.tenant_fairness import Arrivals, arrivals

DATABASE = "killed"
PARTITIONS = 16
OLD_EXCHANGE, OLD_QUEUE = "studio.events", "webhooks.events"
BACKLOG = 500
COUNTED = "SELECT coalesce(sum(last_sequence), 0)::bigint FROM webhooks.event_counters"
# The order in which they are upgraded, as the operators' pages want it: webhooks first.
UPGRADED = [(f"{role}-{number}", words) for role, words in ROLES.items() for number in (1, 2)]


class KillRun:
    def __init__(
        self, database_url: str, brokers: BrokerCluster, running: Replicas, noted: Arrivals, url: str
    ) -> None:
        self.database_url = database_url
        self.brokers = brokers
        self.running = running
        self.noted = noted
        self.receiver_url = url
        self.studios: list[str] = []
        self.listening: list[str] = []
        self.report = KillReport(broker=brokers.version)
        self.writers: list[EventWriter] = []
        self.conn: asyncpg.Connection[Any]
        self.watch: TakeoverWatch

    async def run(self, *, older: Path, studios: int, endpoints: int, events: int, rate: float) -> KillReport:
        started = time.monotonic()
        await self.running.migrate(older)
        await self.running.start_all(OLDER_ROLES, older)
        await self._make_studios(studios, endpoints)
        self.writers = [EventWriter(service, self.studios, events) for service in ("bookings", "forms")]
        self.conn = await asyncpg.connect(self.database_url)
        self.watch = TakeoverWatch(self.conn, self.writers, PARTITIONS, self.noted.at, self.listening)
        async with asyncio.TaskGroup() as group:
            for writer in self.writers:
                group.create_task(writer.write(self.database_url, events=events // 2, rate=rate / 2))
            group.create_task(self._pace_writers(events))
            for name in ("log-1", "bookings-1"):
                await self._kill(name, "older")
            await self._kill_node(0, "older")
            await self._upgrade()
            await self._kill_in_turn(events)
            for writer in self.writers:
                writer.may_end = True
        self.report.seconds = time.monotonic() - started
        await audit(self.report, self.conn, self.writers, self.noted.at, self.listening)
        await self.conn.close()
        return self.report

    async def _pace_writers(self, events: int) -> None:
        """With a long backlog, a takeover would be measured with the time that the backlog takes."""
        conn: asyncpg.Connection[Any] = await asyncpg.connect(self.database_url)
        while self._written() < events or not all(writer.may_end for writer in self.writers):
            backlog = self._written() - await conn.fetchval(COUNTED)
            for writer in self.writers:
                if backlog < BACKLOG:
                    writer.may_write.set()
                else:
                    writer.may_write.clear()
            await asyncio.sleep(0.1)
        for writer in self.writers:
            writer.may_write.set()
        await conn.close()

    def _written(self) -> int:
        return sum(len(writer.written) for writer in self.writers)

    async def _kill_in_turn(self, events: int) -> None:
        """Each of them once, and then on while fewer than `events` are written."""
        everything = [*(name for name, _ in UPGRADED), *range(NODES)]
        for place, victim in enumerate(itertools.cycle(everything)):
            if place >= len(everything) and self._written() >= events:
                return
            if isinstance(victim, int):
                await self._kill_node(victim, "new")
            else:
                await self._kill(victim, "new")

    async def _kill(self, name: str, version: str) -> None:
        await self.running.kill(name)
        self.report.takeovers.append(await self.watch.measure(name, version))
        await self.running.revive(name)
        if version == "new":
            await self.watch.until_shared()

    async def _kill_node(self, number: int, version: str) -> None:
        await self.brokers.kill(number)
        killed = f"broker-{number + 1}"
        self.report.takeovers.append(await self.watch.measure(killed, version))
        await self.brokers.revive(number)

    async def _upgrade(self) -> None:
        """The schema first, then one process after the other; a broker node dies while both versions run."""
        await self.running.migrate()
        for name, words in UPGRADED:
            await self.running.replace(name, words)
            for writer in self.writers:
                if name == f"{writer.service}-2":
                    writer.writes_as_before = False
            if name == "bookings-1":
                await self._kill_node(1, "both")
        for name in SINGLE:
            await self.running.replace(name, [name])
        await self.watch.until_shared()
        await self._remove_old_queue()

    async def _remove_old_queue(self) -> None:
        """Once it is empty, first the exchange and then the queue."""
        connection = await aio_pika.connect(self.brokers.url)
        async with connection, connection.channel() as channel:

            async def empty() -> bool:
                queue = await channel.declare_queue(OLD_QUEUE, passive=True)
                return queue.declaration_result.message_count == 0

            await eventually(empty, seconds=120)
            await channel.exchange_delete(OLD_EXCHANGE)
            await channel.queue_delete(OLD_QUEUE)

    async def _make_studios(self, studios: int, endpoints: int) -> None:
        async with aiohttp.ClientSession() as session:
            system = System(self.running.system, session)
            self.studios = [await system.new_studio() for _ in range(studios)]
            self.listening = self.studios[:endpoints]
            for studio in self.listening:
                partner = system.partner(await system.key(studio=studio))
                made = await partner.post("/webhook-endpoints", {"url": self.receiver_url})
                assert made.status == 201, made.body


@asynccontextmanager
async def open_kill_run(home: Path, version: Version) -> AsyncIterator[KillRun]:
    (home / "home").mkdir()
    postgres = await asyncio.to_thread(EmbeddedPostgres.start, home / "pg", durable=True)
    try:
        admin: asyncpg.Connection[Any] = await asyncpg.connect(postgres.url)
        await admin.execute(f"CREATE DATABASE {DATABASE}")
        await admin.close()
        url = postgres.url_of(DATABASE)
        async with broker_cluster(home, version) as brokers, arrivals() as (noted, receiver_url):
            settings = {
                "STUDIO_DATABASE_URL": url,
                "STUDIO_AMQP_URL": brokers.url,
                "STUDIO_EVENT_PARTITIONS": str(PARTITIONS),
            }
            async with replicas(home / "home", **settings) as running:
                yield KillRun(url, brokers, running, noted, receiver_url)
    finally:
        await asyncio.to_thread(postgres.stop)
