"""Sign-ins are limited per address, so each test has its own."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.console import system_from_own_address
from tests.harness.system import RunningSystem, System


@pytest.fixture
async def system(running_system: RunningSystem) -> AsyncIterator[System]:
    async with system_from_own_address(running_system) as system:
        yield system
