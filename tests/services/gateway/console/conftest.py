"""Sign-ins are limited per address, so each test has its own. Every test here runs in the browser's loop."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.harness.console import system_from_own_address
from tests.harness.front_desk import FrontDesk, front_desk
from tests.harness.system import RunningSystem, System


@pytest_asyncio.fixture(loop_scope="session")
async def system(running_system: RunningSystem) -> AsyncIterator[System]:
    async with system_from_own_address(running_system) as system:
        yield system


@pytest_asyncio.fixture(loop_scope="session")
async def desk(system: System) -> FrontDesk:
    return await front_desk(system)
