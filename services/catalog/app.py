"""Wiring of the catalog service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.catalog.context import Catalog
from services.catalog.routes import routes
from shared.events.bus import Bus
from shared.http.service import Service
from shared.publisher import open_publisher
from shared.settings import Settings

__all__ = ["open_service", "routes"]


@asynccontextmanager
async def open_service(settings: Settings, bus: Bus) -> AsyncIterator[Service[Catalog]]:
    async with (
        open_publisher("catalog", settings, bus) as publisher,
        publisher.serve(Catalog(publisher.db, publisher.wakeup), routes()) as service,
    ):
        yield service
