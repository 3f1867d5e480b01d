"""The forms service on a fresh database and the in-process bus, called as the gateway calls it."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest
from msgspec.structs import replace

from services.forms.app import open_service
from shared.events.bus import EVENT_LOG
from shared.events.bus.memory import MemoryBus
from shared.settings import Settings
from tests.harness.database_layout import urls_of_service
from tests.services.forms.studio_client import CALLER_KEY, EventRecorder, StudioClient


@pytest.fixture
async def studio(database_url: str) -> AsyncIterator[StudioClient]:
    bus = MemoryBus()
    recorder = EventRecorder()
    await bus.subscribe(EVENT_LOG, recorder.record, ready=partial(asyncio.sleep, 0))
    settings = replace(Settings(caller_keys=(CALLER_KEY,), pool_size=10), **urls_of_service(database_url))
    try:
        async with open_service(settings, bus) as service:
            yield StudioClient(service, bus, recorder)
    finally:
        await bus.close()
