"""Five processes and a broker that can be killed, for fault tests; a second event log."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.harness.databases import connected
from tests.harness.eventually import eventually
from tests.harness.process import Process, memory_mb, serving
from tests.harness.rabbitmq import PrivateRabbit
from tests.harness.servers import home_for_servers
from tests.harness.system import RunningSystem, System, new_studio_in, separate_services


class Pipeline:
    def __init__(self, running: RunningSystem, rabbit: PrivateRabbit, database_url: str) -> None:
        self.running = running
        self.rabbit = rabbit
        self.database_url = database_url
        self.system: System

    async def kill_broker(self) -> None:
        await asyncio.to_thread(self.rabbit.kill)

    async def revive_broker(self) -> None:
        await asyncio.to_thread(self.rabbit.start_again)

    async def kill(self, service: str) -> None:
        await asyncio.to_thread(self.running.processes[service].kill)

    async def revive(self, service: str) -> None:
        process = self.running.processes[service]
        await asyncio.to_thread(process.start)
        await asyncio.to_thread(process.wait_ready)

    async def repair(self) -> None:
        await self.revive_broker()
        for service, process in self.running.processes.items():
            if process.child is None or process.child.poll() is not None:
                await self.revive(service)
            await asyncio.to_thread(process.wait_ready)

    async def rows(self, sql: str, *args: Any) -> list[Any]:
        async with connected(self.database_url) as conn:
            return list(await conn.fetch(sql, *args))

    async def in_outbox(self) -> int:
        return int((await self.rows("SELECT count(*) AS n FROM bookings.outbox"))[0]["n"])

    async def left_in_outbox(self) -> int:
        """Waits until it is empty. After a lost reply, events are sent again in 10 s."""

        async def is_empty() -> bool:
            return not await self.in_outbox()

        with suppress(TimeoutError):
            await eventually(is_empty)
        return await self.in_outbox()

    def memory_mb(self, service: str) -> float:
        """Resident memory of one service's process."""
        child = self.running.processes[service].child
        assert child is not None
        return memory_mb(child.pid)


@contextmanager
def running_pipeline(database_url: str) -> Iterator[Pipeline]:
    """For several tests: each uses it in `new_studio`."""
    with home_for_servers() as home, PrivateRabbit.start(home / "rabbit") as rabbit:
        (home / "home").mkdir()
        with separate_services(home / "home", database_url, rabbit.url) as running:
            yield Pipeline(running, rabbit, database_url)


@asynccontextmanager
async def new_studio(pipeline: Pipeline) -> AsyncIterator[Pipeline]:
    """Starts what the test before has left dead, and opens a studio."""
    await pipeline.repair()
    async with new_studio_in(pipeline.running) as pipeline.system:
        yield pipeline


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
        # Its log, which names it, is written a moment later.
        await eventually(lambda: partitions_of(pipeline, second))
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
