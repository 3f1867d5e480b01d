"""The reference in a tab, drawn."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser

from tests.harness.browser import Tab, new_tab
from tests.harness.system import RunningSystem
from tests.services.gateway.console.conftest import system

__all__ = ["system"]


@pytest_asyncio.fixture(loop_scope="session")
async def reference(tab: Tab, running_system: RunningSystem) -> AsyncIterator[Tab]:
    await draw(tab, running_system)
    yield tab


async def draw(tab: Tab, running_system: RunningSystem) -> None:
    await tab.page.goto(f"{running_system.partner_url}/docs")
    await tab.page.wait_for_selector("section[aria-label='Event kinds'] .op")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def drawn_once(browser: Browser, running_system: RunningSystem) -> AsyncIterator[Tab]:
    async with new_tab(browser) as tab:
        await draw(tab, running_system)
        yield tab


@pytest_asyncio.fixture(loop_scope="session")
async def reader(drawn_once: Tab) -> AsyncIterator[Tab]:
    """The reference for those who only read and search in it. Drawing it takes seconds."""
    yield drawn_once
    await drawn_once.page.get_by_role("searchbox").fill("")
    await drawn_once.page.evaluate("document.activeElement.blur()")
    drawn_once.check()
