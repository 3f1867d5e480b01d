"""One Chromium for all tests in a browser, and a tab for each. Loaded as a plugin by tests/conftest.py."""

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser

from tests.harness.browser import MISSING, Tab, connected, find_chromium, new_tab, running_chromium


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = find_chromium()
    if path is None:
        pytest.skip(MISSING)
    with running_chromium(path, tmp_path_factory.mktemp("chromium")) as address:
        yield address


@pytest.fixture
async def browser(chromium: str) -> AsyncIterator[Browser]:
    async with connected(chromium) as browser:
        yield browser


@pytest.fixture
async def tab(browser: Browser) -> AsyncIterator[Tab]:
    async with new_tab(browser) as tab:
        yield tab
        tab.check()
