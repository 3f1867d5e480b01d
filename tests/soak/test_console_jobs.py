"""What people do every day in the consoles: clicks and fields of each job, and its seconds, as a table."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct, field
from playwright.async_api import Browser, Locator, Page, expect

from shared.wire import new_id
from tests.harness import import_lines
from tests.harness.browser import SHARED_LOOP, Tab, new_tab
from tests.harness.console_pages import open_partner_console
from tests.harness.eventually import eventually
from tests.harness.front_desk import FrontDesk, front_desk
from tests.harness.receiver import answering, ok, receiving
from tests.harness.system import System
from tests.services.gateway.console.conftest import system

pytestmark = SHARED_LOOP
__all__ = ["system"]

# What an endpoint was sent before: the newest must still be the first row.
BACKLOG = 1_158


class Jobs(Struct):
    """A hand that counts, and the table of what it did."""

    page: Page
    steps: int = 0
    rows: list[tuple[str, int, float]] = field(default_factory=list)

    @asynccontextmanager
    async def job(self, name: str) -> AsyncIterator[None]:
        self.steps, started = 0, time.monotonic()
        yield
        self.rows.append((name, self.steps, time.monotonic() - started))

    async def click(self, target: Locator | str) -> None:
        self.steps += 1
        await (self.page.locator(target) if isinstance(target, str) else target).click()

    async def press(self, name: str) -> None:
        await self.click(self.page.get_by_role("button", name=name, exact=True).last)

    async def fill(self, target: Locator, text: str) -> None:
        self.steps += 1
        await target.fill(text)

    async def open_pasted(self, text: str, hint: str) -> None:
        self.steps += 3
        await self.page.keyboard.press("Control+k")
        await self.page.get_by_role("dialog").get_by_role("combobox").fill(text)
        await expect(self.page.get_by_role("option", name=hint)).to_be_visible()
        await self.page.keyboard.press("Enter")

    async def shows(self, target: str, text: str) -> None:
        await expect(self.page.locator(target).filter(has_text=text).first).to_be_visible()


async def test_the_jobs_of_a_day(tab: Tab, browser: Browser, system: System) -> None:
    """The parked messages of a broker are not among them: here the bus is inside of the process."""
    desk = await front_desk(system)
    issued = await system.issue(studio=desk.studio_id, client="Widgets")
    await system.limit(issued)
    partner = Jobs(tab.page)
    async with new_tab(browser) as other:
        manager = Jobs(other.page)
        try:
            await partner_jobs(partner, tab, desk, str(issued["key"]))
            await desk_jobs(manager, desk)
            await operator_jobs(manager, desk)
        finally:
            print("\n| job | clicks and fields | seconds |\n|---|---|---|")
            for name, steps, seconds in partner.rows + manager.rows:
                print(f"| {name} | {steps} | {seconds:.1f} |")
    assert max(steps for _, steps, _ in partner.rows + manager.rows) <= 5


async def partner_jobs(jobs: Jobs, tab: Tab, desk: FrontDesk, key: str) -> None:
    client, page = desk.system.partner(key), jobs.page
    async with receiving() as receiver:
        await open_partner_console(tab, desk.system, key)
        async with jobs.job("first call"):
            # Making the link was the first request: its step is folded.
            await jobs.click(page.get_by_role("button", name="Send the first request"))
            await jobs.press("Run")
            await jobs.shows("[role=status]", "200 in")
        async with jobs.job("create endpoint"):
            await jobs.click('#nav a[data-page="webhooks"]')
            await jobs.press("Add endpoint")
            await jobs.fill(page.get_by_label("Address"), receiver.url)
            await jobs.click(page.get_by_role("dialog").get_by_role("button", name="Create"))
            await jobs.shows("dialog .secret", "whsec_")
        async with jobs.job("test event, see delivery"):
            await jobs.press("Send test event")
            await jobs.shows(".tested", "200 in")
        await page.get_by_role("link", name="Open its page").click()
        lines = [import_lines.member() for _ in range(BACKLOG)]
        await desk.system.import_lines(lines, desk.studio_id, send_events=True)
        await receiver.until_count(BACKLOG, seconds=120)
        receiver.response = answering(500, text="no database")
        async with jobs.job(f"the same with {BACKLOG:,} deliveries"):
            await jobs.press("Send test event")
            await jobs.shows("a.item >> nth=0", "webhook.test")
            await jobs.shows("a.item >> nth=0", "500")
        async with jobs.job("attempts"):
            await jobs.click("a.item >> nth=0")
            await jobs.shows(".pane", "webhook-signature")
            await jobs.shows(".pane", "no database")
        receiver.response = ok
        async with jobs.job("retry"):
            await jobs.press("Retry now")
            await expect(page.locator("a.item").first.locator(".dot.good")).to_be_visible()
        async with jobs.job("recover"):
            jobs.steps += 1
            await page.keyboard.press("Escape")
            await jobs.press("Recover…")
            await jobs.press("Recover")
            await jobs.shows("dialog", "Done.")
        await page.keyboard.press("Escape")
        await desk.book("Ada King")
        refused = await client.book(desk.class_id, desk.members["Ada King"])
        async with jobs.job("event to deliveries"):
            await jobs.click('#nav a[data-page="events"]')
            await jobs.click(page.locator("a.item", has_text="booking.created").first)
            await jobs.shows(".pane", "Attempt 1")
        request_id = refused.headers["X-Request-Id"]

        async def logged() -> bool:
            return bool((await client.get("/requests", request_id=request_id)).json()["data"])

        await eventually(logged)
        async with jobs.job("failed request by id"):
            await jobs.open_pasted(request_id, "request")
            await jobs.shows(".pane", "already_booked in the reference")
    # Now the receiver is gone.
    await desk.book("Cleo Larsen")


async def desk_jobs(jobs: Jobs, desk: FrontDesk) -> None:
    page, token = jobs.page, await desk.token("manager")
    await page.goto(f"{desk.system.running.operator_url}/console")
    async with jobs.job("operator sign-in"):
        await jobs.fill(page.get_by_label("Token"), token)
        await jobs.press("Sign in")
        await jobs.shows("h1", "Power Yoga")
    async with jobs.job("check in"):
        await jobs.press("Check in Ada King")
        await jobs.shows(".pill", "✓ In")
    async with jobs.job("change capacity"):
        await jobs.press("One seat more")
        await jobs.shows(".stepper", "9 seats")
    async with jobs.job("why not delivered"):
        await jobs.click('#nav a[data-page="deliveries"]')
        await jobs.click("a.item >> nth=0")
        await jobs.shows(".pane", "could not connect")
    async with jobs.job("audit"):
        await jobs.click('#nav a[data-page="activity"]')
        await jobs.shows("st-list a.item", "checked in Ada King")
    await page.click('#nav a[data-page="partners"]')
    async with jobs.job("console link"):
        await jobs.click(page.get_by_role("link", name="Widgets").first)
        await jobs.press("Console link")
        await jobs.shows("dialog", "valid for")
    await page.keyboard.press("Escape")
    await page.click('#nav a[data-page="partners"]')
    async with jobs.job("client and key"):
        await jobs.press("New partner")
        await jobs.fill(page.get_by_role("dialog").get_by_label("Partner", exact=True), "Gadgets")
        await jobs.press("Read-only schedule")
        await jobs.press("Issue key")
        await jobs.shows("dialog", "I have stored it")
    await page.get_by_role("button", name="I have stored it").click()
    await page.click('#nav a[data-page="transfer"]')
    good = json.dumps(import_lines.member())
    file = {"name": "data.ndjson", "mimeType": "application/x-ndjson", "buffer": f"{good}\nbad".encode()}
    async with jobs.job("import with bad lines"):
        jobs.steps += 1
        await page.get_by_label("Choose a file").set_input_files(file)  # type: ignore[arg-type]
        await jobs.press("Import 1 line")
        await jobs.shows("#view", "1 imported")
    await page.click('#nav a[data-page="today"]')
    async with jobs.job("cancel class"):
        await jobs.click(page.get_by_label("More for this class"))
        await jobs.press("Cancel class…")
        await jobs.press("Cancel class")
        await jobs.shows(".desk-head", "cancelled")


async def operator_jobs(jobs: Jobs, desk: FrontDesk) -> None:
    page, running = jobs.page, desk.system.running
    await page.context.clear_cookies()
    await page.goto(f"{running.operator_url}/console#/studios")
    await page.reload()
    await page.get_by_label("Token").fill(running.operator_token)
    await page.get_by_role("button", name="Sign in").click()
    async with jobs.job("create studio"):
        await jobs.press("New studio")
        name = f"Harbour {new_id()[:6]}"
        await jobs.fill(page.get_by_role("dialog").get_by_label("Name", exact=True), name)
        await jobs.press("Create studio")
        await jobs.shows("#who", name)
