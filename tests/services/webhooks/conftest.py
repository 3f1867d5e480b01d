"""A desk and a receiver for every test."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.receiver import Receiver, receiving
from tests.services.webhooks.desk import Desk, open_desk


@pytest.fixture
async def desk(database_url: str) -> AsyncIterator[Desk]:
    async with open_desk(database_url) as opened:
        yield opened


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


@pytest.fixture
async def second_receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one
