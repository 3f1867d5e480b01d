"""Views that follow what happens: they rest while the page is hidden, and long work shows its progress."""

from playwright.async_api import Request, expect

from services.webhooks.actions.recover import BATCH, MAX_OPEN
from tests.harness import import_lines
from tests.harness.browser import Tab
from tests.harness.console_pages import book, class_of_today, open_partner_console
from tests.harness.eventually import until
from tests.harness.receiver import answering, ok, receiving
from tests.harness.system import System

HIDE = """hidden => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
# The events page reads every two seconds.
ONE_READ_MS = 2_500


async def test_a_hidden_page_asks_for_nothing_and_catches_up_when_it_is_shown(
    tab: Tab, system: System
) -> None:
    """What happened meanwhile appears at once."""
    key = await system.key()
    made = await class_of_today(system)
    await open_partner_console(tab, system, key)
    await tab.show("events")
    reads: list[Request] = []
    tab.page.on("request", lambda request: reads.append(request))
    await until(lambda: bool(reads))
    await tab.page.evaluate(HIDE, True)
    await tab.page.wait_for_timeout(1_000)  # for a read that was already on its way
    reads.clear()
    await book(system, key, made)
    await tab.page.wait_for_timeout(ONE_READ_MS)
    assert reads == []
    assert await tab.page.locator("tr", has_text="booking.created").count() == 0
    await tab.page.evaluate(HIDE, False)
    await expect(tab.page.locator("tr", has_text="booking.created")).to_be_visible()


async def test_a_recovery_shows_how_far_it_has_come(tab: Tab, system: System) -> None:
    """It pauses at its limit of open deliveries while the receiver fails, and is done once that has ended."""
    missed = MAX_OPEN + BATCH
    await system.import_lines([import_lines.member() for _ in range(missed)], send_events=True)
    key = await system.key()
    async with receiving() as receiver:
        receiver.response = answering(500)
        await system.partner(key).post("/webhook-endpoints", {"url": receiver.url})
        await open_partner_console(tab, system, key)
        await tab.show("webhooks")
        await tab.page.get_by_role("link", name=receiver.url).click()
        await tab.page.get_by_label("Events since").fill("2020-01-01T00:00")
        await tab.page.get_by_role("button", name="Recover").click()
        progress = tab.page.locator("#view [role=status]", has_text="queued so far")
        await expect(progress).to_contain_text("running")
        receiver.response = ok
        await expect(progress).to_contain_text("done", timeout=60_000)
