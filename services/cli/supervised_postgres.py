"""The embedded Postgres of `studioctl up`, restarted if it exits unexpectedly."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from services.cli.progress_steps import step
from shared.servers.postgres import EmbeddedPostgres
from shared.servers.problem import ServerProblem
from shared.settings import Settings

log = structlog.get_logger("up")


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[str]:
    """The URL of the database: the given one, or an embedded Postgres for as long as the block runs."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with step("Starting Postgres"):
        server = await asyncio.to_thread(EmbeddedPostgres.start, settings.home)
    log.info("postgres_started", origin=server.origin, port=server.port, data=str(server.data))
    supervised = _SupervisedPostgres(server, settings.home)
    supervision = asyncio.create_task(supervised.restart_when_ended())
    try:
        yield server.url
    finally:
        supervision.cancel()
        await asyncio.gather(supervision, return_exceptions=True)
        await asyncio.to_thread(supervised.server.stop)


class _SupervisedPostgres:
    """The services wait for the new server and continue."""

    def __init__(self, server: EmbeddedPostgres, home: Path) -> None:
        self.server = server
        self._home = home

    async def restart_when_ended(self) -> None:
        while True:
            await asyncio.sleep(1)
            if self.server.alive:
                continue
            print(f"Postgres ended (its log is {self.server.log}); starting it again.", file=sys.stderr)
            await asyncio.to_thread(self.server.stop)
            try:
                self.server = await asyncio.to_thread(EmbeddedPostgres.start, self._home)
            except ServerProblem as problem:
                print(problem, file=sys.stderr)
