"""The reference in a tab, drawn."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.harness.browser import Tab
from tests.harness.system import RunningSystem
from tests.services.gateway.console.conftest import system

__all__ = ["system"]


@pytest_asyncio.fixture(loop_scope="session")
async def reference(tab: Tab, running_system: RunningSystem) -> AsyncIterator[Tab]:
    await tab.page.goto(f"{running_system.partner_url}/docs")
    await tab.page.wait_for_selector("#create_booking")
    yield tab
