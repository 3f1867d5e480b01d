"""The reference in a tab, drawn."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.browser import Tab
from tests.harness.system import RunningSystem


@pytest.fixture
async def reference(tab: Tab, running_system: RunningSystem) -> AsyncIterator[Tab]:
    await tab.page.goto(f"{running_system.partner_url}/docs")
    await tab.page.wait_for_selector("#create_booking")
    yield tab
