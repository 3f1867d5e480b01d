"""The service on a fresh database, without its loops: a test that needs one runs a single step."""

from collections.abc import AsyncIterator

import pytest

from services.bookings.context import Bookings
from shared.background import Wakeup
from tests.harness.database_layout import open_database
from tests.services.bookings.studio_client import StudioClient


@pytest.fixture
async def service(database_url: str) -> AsyncIterator[Bookings]:
    db = await open_database(database_url, "bookings", size=20)
    try:
        yield Bookings(db=db, wakeup=Wakeup())
    finally:
        await db.close()


@pytest.fixture
def client(service: Bookings) -> StudioClient:
    return StudioClient.for_new_studio(service)
