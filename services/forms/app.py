"""Wiring of the forms service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from services.forms.actions.leads import convert_leads
from services.forms.context import Forms
from services.forms.routes import routes
from shared.events.bus import NEW_MEMBERS, Bus
from shared.events.leases import check_writable
from shared.http.idempotency.stored_responses import pruning
from shared.http.service import Service
from shared.publisher import open_publisher
from shared.settings import Settings

__all__ = ["open_service", "routes"]


@asynccontextmanager
async def open_service(settings: Settings, bus: Bus) -> AsyncIterator[Service[Forms]]:
    async with open_publisher("forms", settings, bus) as publisher:
        forms = Forms(publisher.db, publisher.wakeup)
        ready = partial(check_writable, publisher.db, NEW_MEMBERS.name)
        await bus.subscribe(NEW_MEMBERS, partial(convert_leads, forms), ready=ready)
        loops = {"pruning": pruning(publisher.db, "forms")}
        async with publisher.serve(forms, routes(), loops) as service:
            yield service
