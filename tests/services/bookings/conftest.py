"""The service on a fresh database, without its loops: a test runs a step of one where it is about one."""

from collections.abc import AsyncIterator

import pytest

from services.bookings.context import Bookings
from shared.database import Database
from shared.outbox import Bell
from tests.services.bookings.desk import Desk


@pytest.fixture
async def service(database_url: str) -> AsyncIterator[Bookings]:
    db = await Database.connect(database_url, "bookings", size=20)
    try:
        yield Bookings(db=db, bell=Bell())
    finally:
        await db.close()


@pytest.fixture
def desk(service: Bookings) -> Desk:
    return Desk.of_new_studio(service)
