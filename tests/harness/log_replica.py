"""A second replica of the event log beside the one of a pipeline."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.harness.eventually import eventually
from tests.harness.pipeline import Pipeline
from tests.harness.process import Process, serving

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
