"""A studio client and a receiver for every test."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.receiver import Receiver, receiving
from tests.services.webhooks.studio_client import StudioClient, open_studio_client


@pytest.fixture
async def client(database_url: str) -> AsyncIterator[StudioClient]:
    async with open_studio_client(database_url) as opened:
        yield opened


@pytest.fixture
async def second_receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one
