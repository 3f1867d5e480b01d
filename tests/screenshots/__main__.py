"""`make screenshots`: every page of both consoles, with something to see on it, as pictures in docs/console.

Partners' pages show the demo studio, with an endpoint that fails; operators' pages a studio at midday.
"""

import asyncio
import json
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from playwright.async_api import expect

from services.cli.load_demo import DEMO_KEY, demo_console
from services.cli.secrets import with_secrets
from shared.settings import Settings
from tests.harness.browser import MISSING, Tab, connected, install_chromium, new_tab, running_chromium
from tests.harness.console_pages import OPERATOR_PAGES, PARTNER_PAGES, sign_in
from tests.harness.front_desk import NAMES, front_desk
from tests.harness.receiver import answering, receiving
from tests.harness.system import ROOT, RunningSystem, System, environment_for, studioctl_up

FOLDER = ROOT / "docs" / "console"
RETRIES = "5,300,1800,7200,18000,36000,50400,72000,86400"
# What is opened before the picture is taken: a list alone says little.
OPENED = {
    "partner-requests": ("a.item",),
    "partner-events": ("a.item",),
    "partner-webhooks": (".endpoint:has-text('legacy CRM') h2 a", "a.item:has-text('500')"),
    "partner-schedule": ("a.block b",),
    "operator-week": ("a.block b",),
    "operator-members": ("a.item",),
    "operator-partners": (".endpoint h2 a",),
    "operator-deliveries": ("a.item",),
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
        environment = environment_for(home, STUDIO_WEBHOOK_RETRY_SCHEDULE=RETRIES)
        with studioctl_up(environment, home / "up.log") as (process, port, operator_port):
            process.wait_for_text("Ctrl-C stops everything.")
            running = RunningSystem(port, operator_port, settings.operator_tokens[0], home)
            with running_chromium(chromium, home) as address:
                asyncio.run(_take(address, running, settings))
    return 0


async def _fill(system: System, key: str, failing: str) -> str:
    """Bookings that an endpoint does not take, and a class that people come to. The studio of the class."""
    hook = {"url": f"{failing}/studio", "description": "legacy CRM"}
    desk = await front_desk(system)
    widgets = await system.key(studio=desk.studio_id, client="Widgets")
    for client in (system.partner(key), system.partner(widgets)):
        await client.create("/webhook-endpoints", hook)
    partner = system.partner(key)
    soon = (await partner.get("/classes", starts_after=datetime.now(UTC).isoformat())).json()["data"]
    people = (await partner.get("/members")).json()["data"]
    for number, person in enumerate(people[:8]):
        await partner.book(soon[number % 4]["id"], person["id"])
    full = await desk.add_class("Stretch & Roll", 70, capacity=3)
    await desk.add_class("HIIT 45", 35, capacity=16)
    await desk.book(*NAMES[:5], class_id=full)
    booked = await desk.book(*NAMES[:7])
    for booking in booked[:2]:
        await desk.api.post(f"/studios/{desk.studio_id}/bookings/{booking}/check-in")
    await desk.api.post(f"/studios/{desk.studio_id}/bookings/{booked[-1]}/cancel", {})
    await desk.token("staff")
    return desk.studio_id


async def _take(address: str, running: RunningSystem, settings: Settings) -> None:
    FOLDER.mkdir(exist_ok=True)
    operators, token = running.operator_url, running.operator_token
    async with aiohttp.ClientSession() as session, receiving() as receiver, connected(address) as browser:
        receiver.response = answering(
            500, text='{"message": "could not connect to server: refused (db:5432)"}'
        )
        key = json.loads((settings.home / DEMO_KEY).read_text())["key"]
        studio = await _fill(System(running, session), key, receiver.url)
        await receiver.until_count(2)
        link = await asyncio.to_thread(demo_console, settings, operators)
        async with new_tab(browser) as tab:
            await tab.page.goto(link)
            await tab.page.wait_for_selector("#nav a[aria-current]")
            await _pages(tab, "partner", PARTNER_PAGES)
        async with new_tab(browser) as tab:
            await sign_in(tab, operators, token)
            await tab.page.goto(f"{operators}/console?studio={studio}")
            await tab.page.wait_for_selector("#nav a[aria-current]")
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
