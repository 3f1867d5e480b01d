"""The gateway's own database, for tests of its parts without a running system."""

from collections.abc import AsyncIterator

import pytest

from shared.db.database import Database
from tests.harness.database_layout import opened_database


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    async with opened_database(database_url, "gateway", size=3) as opened:
        yield opened
