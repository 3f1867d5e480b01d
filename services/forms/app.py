"""Wiring of the forms service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from services.forms.actions.convert_leads import convert_leads
from services.forms.context import Forms
from services.forms.regions import read_regions
from services.forms.routes import routes
from shared.bus import NEW_MEMBERS, Bus, Message
from shared.caller import CallerVerifier
from shared.database import Database
from shared.health import Beside
from shared.loops import Loop, running
from shared.outbox import Bell
from shared.relay import Relay
from shared.service import Service, build_service
from shared.settings import Settings

__all__ = ["open_service", "routes"]


@asynccontextmanager
async def open_service(settings: Settings, bus: Bus) -> AsyncIterator[Service[Forms]]:
    assert settings.database_url is not None
    db = await Database.connect(settings.database_url, "forms", size=settings.pool_size)
    bell = Bell()
    service = Forms(db=db, bell=bell, regions=read_regions())
    relay = Relay(db, bus, bell)
    loop = Loop("forms-relay", relay.step, idle=1.0, bell=bell)

    async def members_joined(messages: Sequence[Message]) -> None:
        await convert_leads(service, messages)

    try:
        await bus.subscribe(NEW_MEMBERS, members_joined, batch=50)
        async with running([loop]):
            yield build_service(
                "forms",
                service,
                routes(),
                verifier=CallerVerifier(settings.caller_keys),
                checks={"database": db.is_ready, "relay": Beside(loop.problem), "bus": Beside(bus.problem)},
            )
    finally:
        await relay.stop()
        await db.close()
