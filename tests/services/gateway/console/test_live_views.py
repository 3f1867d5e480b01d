"""Views that follow what happens: one wait for all tabs, rest while hidden, four states, what is kept."""

import asyncio
import re
from typing import Any

from playwright.async_api import Request, Route, expect

from tests.harness.browser import SHARED_LOOP, Tab
from tests.harness.console_pages import PARTNER_PAGES, book, class_of_today, open_partner_console
from tests.harness.eventually import until
from tests.harness.receiver import receiving
from tests.harness.system import System

pytestmark = SHARED_LOOP

HIDE = """hidden => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
BOOKED = "a.item:has-text('booking.created')"


async def test_a_hidden_page_asks_for_nothing_and_catches_up_when_it_is_shown(
    tab: Tab, system: System
) -> None:
    """What happened meanwhile appears at once. A lost connection is said, and the list stays and goes on."""
    key = await system.key()
    made = await class_of_today(system)
    await open_partner_console(tab, system, key)
    reads: list[Request] = []
    tab.page.on("request", lambda request: reads.append(request))
    await tab.show("events")
    await until(lambda: any("wait=" in read.url for read in reads))
    await tab.page.evaluate(HIDE, True)
    await tab.page.wait_for_timeout(1_000)  # for a read that was already on its way
    reads.clear()
    await book(system, key, made)
    await tab.page.wait_for_timeout(2_500)
    assert reads == []
    assert await tab.page.locator(BOOKED).count() == 0
    await tab.page.evaluate(HIDE, False)
    await expect(tab.page.locator(BOOKED)).to_be_visible()
    await tab.page.context.set_offline(True)
    await tab.page.evaluate(HIDE, True)
    await tab.page.evaluate(HIDE, False)
    await expect(tab.page.locator(".top .stale")).to_contain_text("Paused")
    await expect(tab.page.locator(BOOKED)).to_be_visible()
    await tab.page.context.set_offline(False)
    # After the next try, and not only after a wait of 25 seconds that ends well.
    await expect(tab.page.locator(".top .stale")).to_have_count(0, timeout=15_000)


async def test_all_tabs_of_a_session_share_one_wait_and_none_of_it_is_in_requests(
    tab: Tab, system: System
) -> None:
    """Both tabs show the event; only one asked. The integration's last refusal is on top of Requests."""
    key = await system.key()
    made = await class_of_today(system)
    await open_partner_console(tab, system, key)
    await tab.show("events")
    other = await tab.page.context.new_page()
    await other.goto(f"{tab.page.url.partition('#')[0]}#/events")
    await expect(other.locator("h1")).to_have_text("Events")
    waits: list[str] = []
    for name, page in (("first", tab.page), ("second", other)):

        def heard(request: Request, name: str = name) -> None:
            if "wait=" in request.url:
                waits.append(name)

        page.on("request", heard)
    await book(system, key, made)
    refused = await system.partner(key).book(made.class_ids[0], made.member_ids[0])
    assert refused.status == 409
    for page in (tab.page, other):
        await expect(page.locator(BOOKED)).to_be_visible()
    await until(lambda: bool(waits))
    assert len(set(waits)) == 1
    await tab.show("requests")
    await expect(tab.page.locator("a.item").first).to_contain_text("already_booked")
    assert await tab.page.locator("a.item", has_text="/events").count() == 0
    await tab.page.get_by_label("Source").select_option("console")
    await expect(tab.page.locator("a.item", has_text="/events").first).to_be_visible()


async def test_a_recovery_says_how_much_it_is_and_when_it_is_done(tab: Tab, system: System) -> None:
    """Since a moment in the zone of the page, which is not the browser's."""
    key, page = await system.key(), tab.page
    await book(system, key, await class_of_today(system))
    await system.partner(key).until("/events")
    async with receiving() as receiver:
        await system.partner(key).post("/webhook-endpoints", {"url": receiver.url})
        await open_partner_console(tab, system, key)
        await tab.show("webhooks")
        await page.locator(".endpoint h2 a").click()
        await page.get_by_role("button", name="Recover…").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Since…").click()
        await dialog.get_by_label("Since (").fill("2020-01-01T00:00")
        await dialog.get_by_label("Since (").blur()
        await expect(dialog).to_contain_text("since Wed 1 Jan 2020 00:00 (America/New York)")
        await expect(dialog.locator("strong")).to_have_text(re.compile(r"^[1-9]\d*$"))
        await dialog.get_by_role("button", name="Recover", exact=True).click()
        await expect(dialog).to_contain_text("Done.", timeout=60_000)
        await receiver.until_count(1)


PROBLEM: dict[str, Any] = {
    "error": {
        "type": "unavailable",
        "code": "service_unavailable",
        "message": "Not now.",
        "request_id": "r-1",
    }
}


async def test_every_panel_has_its_four_states(tab: Tab, system: System) -> None:
    """A skeleton while it loads, a sentence and one act when empty, a way on after an error.

    Home does not take endpoints that could not be read for none: deliveries have no figure then.
    """
    page, loading = tab.page, asyncio.Event()

    async def refuse(route: Route) -> None:
        await loading.wait()
        await route.fulfill(status=503, json=PROBLEM)

    await open_partner_console(tab, system, await system.key())
    for name, path, act in (
        ("home", "requests/counts", None),
        ("requests", "requests", None),
        ("events", "events", "Add an endpoint"),
        ("webhooks", "webhook-endpoints", "Add endpoint"),
        ("schedule", "classes", None),
    ):
        await tab.show("settings")
        pattern = re.compile(rf"/partner/v1/{path}(\?.*)?$")
        loading.clear()
        await page.route(pattern, refuse)
        await page.click(f'#nav a[data-page="{name}"]')
        await expect(page.locator("#view .skeleton").first).to_be_visible()
        loading.set()
        problem = page.locator("#view .problem").first
        await expect(problem).to_contain_text("Not now.")
        await expect(problem).to_contain_text("service_unavailable")
        await page.unroute(pattern)
        await problem.get_by_role("button", name="Try again").click()
        await expect(page.locator("#view .problem")).to_have_count(0)
        if act is not None:
            await expect(page.locator("#view .empty")).to_contain_text(act)
    pattern = re.compile(r"/partner/v1/webhook-endpoints(\?.*)?$")
    await page.route(pattern, refuse)
    await page.reload()
    await tab.show("home")
    tile = page.locator(".tile", has_text="Deliveries")
    await expect(tile).to_contain_text("They could not be read.")
    await expect(tile.locator(".figure")).to_have_text("–")
    await page.unroute(pattern)
    await page.get_by_role("button", name="Try again").first.click()
    await expect(tile).to_contain_text("No endpoint yet.")


async def test_the_zone_is_kept_and_keys_lead_to_every_page(tab: Tab, system: System) -> None:
    """Over a reload; `g` and a letter, `?` for the list; times have ISO in their title and no seconds."""
    key = await system.key()
    await book(system, key, await class_of_today(system))
    await open_partner_console(tab, system, key)
    page = tab.page
    await page.locator("#zone").click()
    await page.reload()
    await expect(page.locator("#zone")).to_contain_text("browser")
    for name, letter in zip(PARTNER_PAGES, "hrewcs", strict=True):
        await page.keyboard.press("g")
        await page.keyboard.press(letter)
        await expect(page.locator("#view")).to_have_attribute("data-page", name)
        await expect(page.locator("#view h1").first).to_be_focused()
    await page.keyboard.press("?")
    keys = page.get_by_role("dialog")
    await expect(keys).to_contain_text("search, or open any pasted id")
    await expect(keys.locator("dt")).to_contain_text([f"g {letter}" for letter in "hrewcs"])
    await page.keyboard.press("Escape")
    await tab.show("events")
    time = page.locator("a.item st-time").first
    assert re.match(r"\d{4}-\d\d-\d\dT", await time.get_attribute("title") or "")
    assert re.fullmatch(r"just now|\d+ min ago", await time.inner_text())
    await page.keyboard.press("g")
    await page.keyboard.press("e")
    await page.keyboard.press("ArrowDown")
    await expect(page.locator("a.item").first).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator(".pane")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.locator("a.item").first).to_be_focused()
