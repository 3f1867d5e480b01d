"""A database with the tables of one service, whose outbox is relayed here."""

from collections.abc import AsyncIterator

import pytest

from shared.db.database import Database
from shared.events import leases
from tests.harness.database_layout import opened_database


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    async with opened_database(database_url, "bookings", size=8) as database:
        yield database


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each renewal of leases is a heartbeat."""
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.0)
