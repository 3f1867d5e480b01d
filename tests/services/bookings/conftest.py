"""The service on a fresh database, without its loops: a test runs a step of one where it is about one."""

from collections.abc import AsyncIterator

import pytest

from services.bookings.context import Bookings
from shared.background import Wakeup
from shared.db.database import Database
from tests.services.bookings.desk import Desk


@pytest.fixture
async def service(database_url: str) -> AsyncIterator[Bookings]:
    db = await Database.connect(database_url, "bookings", size=20)
    try:
        yield Bookings(db=db, wakeup=Wakeup())
    finally:
        await db.close()


@pytest.fixture
def desk(service: Bookings) -> Desk:
    return Desk.of_new_studio(service)
