"""The system under test: replicas of five services behind links that can fail, with their own servers."""

import asyncio
import os
import signal
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from shared.servers.postgres import EmbeddedPostgres, PostgresBinaries
from tests.chaos.follower import Follower
from tests.chaos.ledger import Ledger
from tests.chaos.link import Link
from tests.chaos.receiver import ChaosReceiver
from tests.chaos.writers import Gateway
from tests.harness.broker_cluster import BrokerCluster
from tests.harness.rabbitmq import PrivateRabbit
from tests.harness.rolling_restart import Balancer
from tests.harness.system import Process, System

DATABASE = "chaos"
MOUNT_BYTES = 8 * 2**30
# Two endpoints of each studio, by kind: whether it is fifo.
ENDPOINTS = {"ordered": True, "unordered": False}


class Arena:
    def __init__(self, folder: Path, postgres: EmbeddedPostgres, rabbit: PrivateRabbit) -> None:
        self.folder = folder
        self.postgres = postgres
        # With a cluster, its first node.
        self.rabbit = rabbit
        self.cluster: BrokerCluster | None = None
        self.processes: dict[str, Process] = {}
        self.ports: dict[str, int] = {}
        self.links: dict[str, Link] = {}
        self.balancers: dict[str, Balancer] = {}
        self.receivers: dict[str, ChaosReceiver] = {}
        self.gateways: list[Gateway] = []
        self.followers: list[Follower] = []
        self.ledger = Ledger({})
        # Each in a partition of its own, so that there is work for every replica and in many queues.
        self.studio_ids: list[str] = []
        # A tmpfs with the data of Postgres, if one could be mounted.
        self.mount: Path | None = None
        self.postgres_settings: dict[str, str] = {}
        self.postgres_binaries: PostgresBinaries | None = None
        self.system: System

    @property
    def database_url(self) -> str:
        return self.postgres.url_of(DATABASE)

    @property
    def amqp_url(self) -> str:
        return self.cluster.url if self.cluster else self.rabbit.url

    async def connect(self, database: str) -> "asyncpg.Connection[Any]":
        """As the superuser, not through a link."""
        settings = {"default_transaction_read_only": "off"}
        return await asyncpg.connect(self.postgres.url_of(database), timeout=30, server_settings=settings)

    async def rows(self, sql: str, *args: Any, database: str = DATABASE) -> list[Any]:
        conn = await self.connect(database)
        try:
            return list(await conn.fetch(sql, *args, timeout=60))
        finally:
            await conn.close()

    async def admin(self, sql: str, *args: Any) -> None:
        """A connection to another database, so that a fault can close the services' database."""
        await self.rows(sql, *args, database="postgres")

    async def start_postgres(self) -> None:
        """On the same data and port."""
        self.postgres = await asyncio.to_thread(
            EmbeddedPostgres.start,
            self.folder / "pg",
            durable=True,
            binaries=self.postgres_binaries,
            settings=self.postgres_settings,
        )
        for link in self.links_to("postgres"):
            link.target_port = self.postgres.port

    async def resize_mount(self, size: int | None) -> None:
        """None sets it to the full size."""
        words = ["mount", "-o", f"remount,size={size or MOUNT_BYTES}", str(self.mount)]
        await asyncio.to_thread(subprocess.run, words, check=True)

    def links_to(self, target: str) -> list[Link]:
        """`target` is a server, a service or a kind of endpoint."""
        return [
            link
            for name, link in self.links.items()
            if name.partition(">")[2].rpartition(".")[0] == target or name.endswith(f">{target}")
        ]

    def receivers_of(self, kind: str) -> list[ChaosReceiver]:
        return [receiver for name, receiver in self.receivers.items() if name.partition(".")[0] == kind]

    def with_a_twin(self) -> list[str]:
        """Processes for which another one can take over. A gateway is chosen by its clients."""
        services = Counter(name.rpartition("-")[0] for name in self.processes)
        return [
            name
            for name in sorted(self.processes)
            if services[service := name.rpartition("-")[0]] > 1 and service != "gateway"
        ]

    @asynccontextmanager
    async def excused(self, process: str) -> AsyncIterator[None]:
        """While a fault affects a gateway itself, it does not have to answer."""
        async with AsyncExitStack() as stack:
            for gateway in self.gateways:
                if gateway.name == process:
                    await stack.enter_async_context(gateway.excused())
            yield

    def signal(self, process: str, number: signal.Signals) -> None:
        child = self.processes[process].child
        assert child is not None
        os.kill(child.pid, number)

    async def until_ready(self, process: str) -> None:
        await asyncio.to_thread(self.processes[process].wait_ready, 300.0)

    async def kill(self, process: str) -> None:
        await asyncio.to_thread(self.processes[process].kill)

    async def repair(self) -> None:
        """Starts and heals whatever a failed round has left behind."""
        for link in self.links.values():
            await link.heal()
        for node in self.cluster.nodes if self.cluster else [self.rabbit]:
            await asyncio.to_thread(node.start_again)
        if not self.postgres.alive:
            await self.start_postgres()
        for name, process in self.processes.items():
            if process.child is None or process.child.poll() is not None:
                process.start()
            self.signal(name, signal.SIGCONT)
        for name in self.processes:
            await self.until_ready(name)
