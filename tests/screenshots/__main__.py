"""`make screenshots`: every page of both consoles with the demo studio, as pictures under docs/console."""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from services.cli.load_demo import demo_console
from services.cli.secrets import with_secrets
from shared.servers.ports import free_port
from shared.settings import Settings
from tests.harness.browser import MISSING, Tab, connected, install_chromium, new_tab, running_chromium
from tests.harness.console_pages import OPERATOR_PAGES, PARTNER_PAGES
from tests.harness.system import ROOT, Process, environment_for

FOLDER = ROOT / "docs" / "console"


def main() -> int:
    chromium = install_chromium()
    if chromium is None:
        sys.stderr.write(f"{MISSING}\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        home, port, operator_port = Path(folder), free_port(), free_port()
        settings = with_secrets(Settings(home=home), make=True)
        operators = f"http://127.0.0.1:{operator_port}"
        words = ["up", "--port", str(port), "--operator-port", str(operator_port)]
        log = home / "up.log"
        system = Process(words, environment_for(home), f"http://127.0.0.1:{port}/health/ready", log)
        system.start()
        try:
            system.wait_ready()
            _wait_for(log, "Ctrl-C stops everything.")
            link = demo_console(settings, operators)
            with running_chromium(chromium, home) as address:
                asyncio.run(_take(address, link, operators, settings.operator_tokens[0]))
        finally:
            system.stop()
    return 0


def _wait_for(log: Path, text: str) -> None:
    """The demo studio is loaded after the services are ready."""
    deadline = time.monotonic() + 300
    while text not in log.read_text():
        if time.monotonic() > deadline:
            raise AssertionError(log.read_text()[-2000:])
        time.sleep(0.2)


async def _take(address: str, link: str, operators: str, token: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    async with connected(address) as browser:
        async with new_tab(browser) as tab:
            await tab.page.goto(link)
            await tab.page.wait_for_selector("#nav a[aria-current]")
            await _pages(tab, "partner", PARTNER_PAGES)
        async with new_tab(browser) as tab:
            await tab.page.goto(f"{operators}/console")
            await tab.page.get_by_label("Token").fill(token)
            await tab.page.get_by_role("button", name="Sign in").click()
            await tab.page.wait_for_selector("#nav a[aria-current]")
            await _pages(tab, "operator", OPERATOR_PAGES)


async def _pages(tab: Tab, console: str, pages: tuple[str, ...]) -> None:
    for page in pages:
        await tab.show(page)
        await tab.page.screenshot(path=FOLDER / f"{console}-{page}.png")
        sys.stdout.write(f"docs/console/{console}-{page}.png\n")


if __name__ == "__main__":
    sys.exit(main())
