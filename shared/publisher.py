"""What every service that publishes events is made of: a database, a relay, loops and readiness checks."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar

from msgspec import Struct

from shared.background import Loop, Wakeup, running
from shared.db.database import Database
from shared.events.bus import Bus
from shared.events.relay import Relay
from shared.http.caller import CallerVerifier
from shared.http.health import OptionalCheck
from shared.http.routes import Route
from shared.http.service import Service, build_service
from shared.settings import Settings

C = TypeVar("C")


class Publisher(Struct):
    name: str
    settings: Settings
    bus: Bus
    db: Database
    wakeup: Wakeup
    relay: Relay

    @asynccontextmanager
    async def serve(
        self, context: C, routes: list[Route[C]], loops: Mapping[str, Loop] | None = None
    ) -> AsyncIterator[Service[C]]:
        """`loops` run beside the relay's. One that is stuck is named by the readiness check."""
        all_loops = {"relay": self.relay.loop, "outbox": self.relay.reporting, **(loops or {})}
        async with running(all_loops.values()):
            yield build_service(
                self.name,
                context,
                routes,
                verifier=CallerVerifier(self.settings.caller_keys_of(self.name)),
                checks={
                    "database": self.db.is_ready,
                    "writes": OptionalCheck(self.db.write_problem),
                    "bus": OptionalCheck(self.bus.problem),
                    **{part: OptionalCheck(loop.problem) for part, loop in all_loops.items()},
                },
            )


@asynccontextmanager
async def open_publisher(name: str, settings: Settings, bus: Bus) -> AsyncIterator[Publisher]:
    assert settings.database_url is not None
    db = await Database.connect(
        settings.database_url, name, size=settings.pool_size, direct_url=settings.database_direct_url
    )
    wakeup = Wakeup()
    relay = Relay(db, bus, wakeup, service=name)
    try:
        yield Publisher(name, settings, bus, db, wakeup, relay)
    finally:
        await relay.stop()
        await db.close()
