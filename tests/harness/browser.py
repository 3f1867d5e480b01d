"""Debian's Chromium, started and connected to once for all browser tests, a tab for each, and axe-core."""

import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect

from tests.harness.debian_package import find_binary, install

NAMES = ("chromium", "chromium-browser", "google-chrome-stable")
MISSING = "There is no Chromium here; install it with `apt-get install chromium`."
START_SECONDS = 60
# A busy machine takes seconds to draw a page; the default limit is five.
expect.set_options(timeout=30_000)
# No sandbox for root, no host except loopback, and no requests of Chromium's own.
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
)


def find_chromium() -> str | None:
    return find_binary(*NAMES)


def install_chromium() -> str | None:
    """Returns its path. If it can neither be found nor installed, its tests are skipped."""
    if find_chromium() is None:
        install("chromium")
    return find_chromium()


@contextmanager
def running_chromium(path: str, folder: Path) -> Iterator[str]:
    """The address at which tests connect to it."""
    profile = folder / "profile"
    with (folder / "chromium.log").open("wb") as log:
        child = subprocess.Popen([path, *ARGUMENTS, f"--user-data-dir={profile}"], stdout=log, stderr=log)
    try:
        yield _address(child, profile / "DevToolsActivePort")
    finally:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _address(child: "subprocess.Popen[bytes]", port_file: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert child.poll() is None, f"Chromium ended with {child.returncode}"
        lines = port_file.read_text().splitlines() if port_file.exists() else []
        if len(lines) >= 2:
            return f"http://127.0.0.1:{lines[0]}"
        time.sleep(0.05)
    raise AssertionError(f"Chromium is not ready after {START_SECONDS} s")


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(address)
        yield browser
        await browser.close()


class Tab:
    """A page in its own context, with the errors that occurred in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        self.foreign: list[str] = []
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda problem: self.problems.append(str(problem)))
        page.on("console", self._heard)
        page.on("request", self._requested)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "Content Security Policy" in message.text:
            self.problems.append(message.text)

    def _requested(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "http://localhost:", "data:", "blob:", "about:")):
            self.foreign.append(request.url)

    async def show(self, page: str) -> None:
        """Opens a page of the console by its link, and waits until it is drawn."""
        await self.page.click(f'#nav a[data-page="{page}"]')
        await self.page.wait_for_selector(f'#nav a[data-page="{page}"][aria-current]')
        await self.page.wait_for_selector("#view .page:not([aria-busy])")
        await expect(self.page.locator("#view .skeleton")).to_have_count(0)

    def check(self) -> None:
        """No script errors, no policy violations, no requests to other hosts."""
        assert self.problems == []
        assert self.foreign == []


@asynccontextmanager
async def new_tab(browser: Browser) -> AsyncIterator[Tab]:
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    try:
        yield Tab(await context.new_page())
    finally:
        await context.close()


AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
DESKTOP, PHONE = (1280, 900), (390, 844)
# Colours alone differ between light and dark, so the dark pages are measured for contrast.
EVERYTHING: dict[str, Any] = {"resultTypes": ["violations"]}
CONTRAST: dict[str, Any] = EVERYTHING | {"runOnly": ["color-contrast"]}


async def check_widths(tab: Tab, part: str = "html") -> list[str]:
    """What is wrong on a desktop and on a phone. Dark colours are the same on both, so measured once."""
    found = []
    for (width, height), schemes in ((DESKTOP, ("light",)), (PHONE, ("dark", "light"))):
        await tab.page.set_viewport_size({"width": width, "height": height})
        if await tab.page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"wider than {width}")
        for scheme in schemes:
            await use_scheme(tab, scheme)
            problems = await violations(tab, CONTRAST if scheme == "dark" else EVERYTHING, part)
            found += [f"{width}, {scheme}: {problem}" for problem in problems]
    return found


async def use_scheme(tab: Tab, scheme: str) -> None:
    await tab.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    await tab.page.wait_for_selector(f'html[data-theme="{scheme}"]')


async def violations(tab: Tab, options: dict[str, Any], part: str = "html") -> list[str]:
    found = await tab.page.evaluate("([part, options]) => axe.run(part, options)", [part, options])
    return [f"{one['id']}: {[node['target'] for node in one['nodes']][:3]}" for one in found["violations"]]


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = find_chromium()
    if path is None:
        pytest.skip(MISSING)
    with running_chromium(path, tmp_path_factory.mktemp("chromium")) as address:
        yield address


# Connecting takes a second. What is connected belongs to one event loop, so its tests share that.
SHARED_LOOP = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    async with connected(chromium) as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser) -> AsyncIterator[Tab]:
    async with new_tab(browser) as tab:
        yield tab
        tab.check()
