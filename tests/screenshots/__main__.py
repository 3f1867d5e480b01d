"""`make screenshots`: every page of both consoles with the demo studio, as pictures under docs/console."""

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import expect

from services.cli.load_demo import demo_console
from services.cli.secrets import with_secrets
from shared.settings import Settings
from tests.harness.browser import MISSING, Tab, connected, install_chromium, new_tab, running_chromium
from tests.harness.console_pages import OPERATOR_PAGES, PARTNER_PAGES, sign_in
from tests.harness.system import ROOT, environment_for, studioctl_up

FOLDER = ROOT / "docs" / "console"
# What is opened before the picture is taken: a list alone says little.
OPENED = {
    "partner-requests": ("a.item",),
    "partner-events": ("a.item",),
    "partner-webhooks": (".endpoint h2 a", "a.item"),
    "partner-schedule": ("a.block",),
    "operator-today": (".class-item",),
    "operator-week": ("a.block",),
    "operator-members": ("a.item",),
    "operator-partners": (".endpoint h2 a",),
    "operator-activity": ("a.item",),
    "operator-audit": ("a.item",),
}


def main() -> int:
    chromium = install_chromium()
    if chromium is None:
        sys.stderr.write(f"{MISSING}\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        settings = with_secrets(Settings(home=home), make=True)
        with studioctl_up(environment_for(home), home / "up.log") as (process, _, operator_port):
            operators = f"http://127.0.0.1:{operator_port}"
            process.wait_for_text("Ctrl-C stops everything.")
            link = demo_console(settings, operators)
            with running_chromium(chromium, home) as address:
                asyncio.run(_take(address, link, operators, settings.operator_tokens[0]))
    return 0


async def _take(address: str, link: str, operators: str, token: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    async with connected(address) as browser:
        async with new_tab(browser) as tab:
            await tab.page.goto(link)
            await tab.page.wait_for_selector("#nav a[aria-current]")
            await _pages(tab, "partner", PARTNER_PAGES)
        async with new_tab(browser) as tab:
            await sign_in(tab, operators, token)
            await _pages(tab, "operator", OPERATOR_PAGES)


async def _pages(tab: Tab, console: str, pages: tuple[str, ...]) -> None:
    for page in pages:
        await tab.show(page)
        for part in OPENED.get(f"{console}-{page}", ()):
            await tab.page.locator(part).first.click()
            await expect(tab.page.locator("#view .skeleton")).to_have_count(0)
            await tab.page.wait_for_timeout(500)  # for names, which are read after the rows
        await tab.page.screenshot(path=FOLDER / f"{console}-{page}.png")
        sys.stdout.write(f"docs/console/{console}-{page}.png\n")


if __name__ == "__main__":
    sys.exit(main())
