"""Five processes with their own servers, all of which can be killed, for fault tests; a second event log."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from shared.db.migrate import migrate
from shared.servers.postgres import EmbeddedPostgres
from shared.settings import SERVICES
from tests.chaos.ledger import Ledger
from tests.harness.databases import connected
from tests.harness.eventually import eventually, run_in_thread
from tests.harness.process import Process, memory_mb, serving
from tests.harness.rabbitmq import PrivateRabbit
from tests.harness.system import RunningSystem, System, new_studio_in, separate_services

DATABASE = "ledger"
EMPTIED_SECONDS = 60.0


class Pipeline:
    """Its parts: "relay" (the bookings process), "dispatcher" (webhooks), "broker" and "postgres"."""

    def __init__(
        self,
        running: RunningSystem,
        postgres: EmbeddedPostgres,
        rabbit: PrivateRabbit,
        home: Path,
    ) -> None:
        self.running = running
        self.postgres = postgres
        self.rabbit = rabbit
        self._home = home
        self.system: System
        # Of a run whose parts are killed.
        self.ledger = Ledger({})
        self.studio_ids: list[str] = []

    @property
    def database_url(self) -> str:
        return self.postgres.url_of(DATABASE)

    async def kill(self, part: str) -> None:
        if part == "postgres":
            await asyncio.to_thread(crash, self.postgres)
        elif part == "broker":
            await asyncio.to_thread(self.rabbit.kill)
        else:
            await asyncio.to_thread(self.running.processes[_process_of(part)].kill)

    async def revive(self, part: str) -> None:
        if part == "postgres":
            self.postgres = await asyncio.to_thread(EmbeddedPostgres.start, self._home / "pg", durable=True)
        elif part == "broker":
            await asyncio.to_thread(self.rabbit.start_again)
        else:
            process = self.running.processes[_process_of(part)]
            await asyncio.to_thread(process.start)
            await asyncio.to_thread(process.wait_ready)

    async def repair(self) -> None:
        await asyncio.to_thread(self.rabbit.start_again)
        if not self.postgres.alive:
            await self.revive("postgres")
        for process in self.running.processes.values():
            if process.child is None or process.child.poll() is not None:
                await asyncio.to_thread(process.start)
            await asyncio.to_thread(process.wait_ready)

    async def rows(self, sql: str, *args: Any) -> list[Any]:
        async with connected(self.database_url) as conn:
            return list(await conn.fetch(sql, *args))

    async def in_outbox(self) -> int:
        return int((await self.rows("SELECT count(*) AS n FROM bookings.outbox"))[0]["n"])

    async def left_in_outbox(self) -> int:
        """Waits until it is empty. After a lost reply, events are sent again in 10 s."""
        with suppress(TimeoutError):
            async with asyncio.timeout(EMPTIED_SECONDS):
                while await self.in_outbox():
                    await asyncio.sleep(0.1)
        return await self.in_outbox()

    def memory_mb(self, service: str) -> float:
        """Resident memory of one service's process."""
        child = self.running.processes[service].child
        assert child is not None
        return memory_mb(child.pid)


def _process_of(part: str) -> str:
    return {"relay": "bookings", "dispatcher": "webhooks"}[part]


def crash(server: EmbeddedPostgres) -> None:
    """SIGKILL to the postmaster, like the OOM killer. The next start cleans up."""
    pid = int((server.data / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
    with suppress(Exception):
        server.stop()


def _new_home() -> Path:
    """A folder that the unprivileged user of Postgres can enter."""
    home = Path(tempfile.mkdtemp(prefix="studio-pipeline-"))
    home.chmod(0o711)
    (home / "home").mkdir()
    return home


@contextmanager
def running_pipeline(**settings: str) -> Iterator[Pipeline]:
    """For several tests: each uses it in `new_studio`."""
    home = _new_home()
    postgres = EmbeddedPostgres.start(home / "pg", durable=True)
    pipeline = None
    try:
        with PrivateRabbit.start(home / "rabbit") as rabbit:
            run_in_thread(_make_database(postgres))
            url = postgres.url_of(DATABASE)
            with separate_services(home / "home", url, rabbit.url, **settings) as running:
                pipeline = Pipeline(running, postgres, rabbit, home)
                yield pipeline
    finally:
        (pipeline.postgres if pipeline else postgres).stop()
        shutil.rmtree(home, ignore_errors=True)


@asynccontextmanager
async def new_studio(pipeline: Pipeline) -> AsyncIterator[Pipeline]:
    """Starts what the test before has left dead, and opens a studio."""
    await pipeline.repair()
    async with new_studio_in(pipeline.running) as pipeline.system:
        yield pipeline


@asynccontextmanager
async def open_pipeline(**settings: str) -> AsyncIterator[Pipeline]:
    opened = running_pipeline(**settings)
    running = await asyncio.to_thread(opened.__enter__)
    try:
        async with new_studio(running) as pipeline:
            yield pipeline
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)


async def _make_database(postgres: EmbeddedPostgres) -> None:
    async with connected(postgres.url) as admin:
        await admin.execute(f"CREATE DATABASE {DATABASE}")
    await migrate(postgres.url_of(DATABASE), SERVICES)


PARTITIONS = 16
LEASED = "SELECT partition FROM webhooks.leases WHERE role = 'event-log' AND replica::text = ANY ($1)"
REPLICAS = "SELECT DISTINCT replica::text FROM webhooks.leases WHERE role = 'event-log'"


@asynccontextmanager
async def second_log_replica(pipeline: Pipeline, folder: Path, **settings: str) -> AsyncIterator[Process]:
    """Yields once each replica leases its half of the partitions."""
    first = pipeline.running.processes["webhooks"]
    second = serving(["webhooks", "--only", "log"], first.environment | settings, folder)
    second.start()
    try:
        await asyncio.to_thread(second.wait_ready)
        await eventually(lambda: _is_spread(pipeline))
        yield second
    finally:
        await asyncio.to_thread(second.stop)


async def partitions_of(pipeline: Pipeline, process: Process) -> set[int]:
    """The ones that this replica leases: its log names it."""
    log = process.log.read_text()
    replicas = [row["replica"] for row in await pipeline.rows(REPLICAS) if f'"{row["replica"]}"' in log]
    return {row["partition"] for row in await pipeline.rows(LEASED, replicas)}


async def _is_spread(pipeline: Pipeline) -> bool:
    return len(await pipeline.rows(REPLICAS)) == 2
