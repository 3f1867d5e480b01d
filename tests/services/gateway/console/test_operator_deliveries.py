"""The operators' console: deliveries that failed, and why; and what a pasted id opens."""

from playwright.async_api import expect

from shared.wire import new_id
from tests.harness.browser import SHARED_LOOP, Tab
from tests.harness.front_desk import front_desk
from tests.harness.receiver import answering, ok, receiving
from tests.harness.system import System

pytestmark = SHARED_LOOP


async def test_failed_deliveries_are_grouped_with_the_reason_they_share(tab: Tab, system: System) -> None:
    """One retry sends them all; the row changes by itself."""
    desk = await front_desk(system)
    key = await system.key(studio=desk.studio_id)
    async with receiving() as receiver:
        receiver.response = answering(500, text="no database")
        body = {"url": receiver.url, "description": "legacy CRM", "event_types": ["booking.created"]}
        await system.partner(key).create("/webhook-endpoints", body)
        await desk.book("Ada King", "Bo Okafor")
        await receiver.until_count(2)
        await desk.open(tab, "manager")
        await tab.show("deliveries")
        group = tab.page.locator(".group-card")
        await expect(group).to_contain_text("legacy CRM")
        await expect(group).to_contain_text("500 no database")
        await group.locator("a.item", has_text="booking.created").last.click()
        pane = tab.page.locator(".pane")
        # What the partner sees of it, too.
        await expect(pane.get_by_role("heading", level=1)).to_contain_text("booked Power Yoga")
        for text in ("no database", "webhook-signature", "content-length"):
            await expect(pane).to_contain_text(text)
        facts, address = pane.locator(".facts"), tab.page.url
        for name, title in (("Ada King", "Ada King"), ("Power Yoga", "Power Yoga"), ("test", "test")):
            await facts.get_by_role("link", name=name).first.click()
            await expect(tab.page.locator("#view h1", has_text=title)).to_be_visible()
            await tab.page.goto(address)
        await facts.get_by_role("button", name="booking.created #").click()
        await expect(tab.page.get_by_role("dialog")).to_contain_text('"booking.created"')
        await tab.page.keyboard.press("Escape")
        await facts.get_by_role("link", name="legacy CRM").click()
        await expect(tab.page.get_by_role("link", name="Show every endpoint")).to_be_visible()
        await tab.page.get_by_role("link", name="Show every endpoint").click()
        await tab.page.get_by_role("button", name="Failed or late").click()
        await group.get_by_role("button", name="Recover since…").click()
        await expect(tab.page.get_by_role("dialog")).to_contain_text("did not reach it")
        await tab.page.get_by_role("button", name="Cancel").click()
        receiver.response = ok
        await group.get_by_role("button", name="Retry all 2").click()
        await expect(tab.page.locator(".side")).to_contain_text("Every delivery has arrived.")


async def test_what_is_pasted_into_the_search_opens(tab: Tab, system: System) -> None:
    """A partner's request, an event, a delivery; a booking and a member's name are found, too."""
    desk = await front_desk(system)
    partner = system.partner(await system.key(studio=desk.studio_id, client="Widgets"))
    refused = await partner.get(f"/bookings/{new_id()}")
    async with receiving() as receiver:
        await partner.create("/webhook-endpoints", {"url": receiver.url})
        (booking,) = await desk.book("Ada King")
        (got, *_) = await receiver.until_count(1)
    (delivery, *_) = (await desk.api.until(f"/studios/{desk.studio_id}/webhook-deliveries"))["data"]
    request_id = refused.headers["X-Request-Id"]
    await desk.api.until("/requests", request_id=request_id)
    await desk.open(tab, "manager")
    page = tab.page
    for pasted, option, place, shown in (
        (request_id, "request of Widgets", page.get_by_role("region", name="Request"), "404"),
        (got.event_id, "booking.created", page.get_by_role("dialog"), '"booking.created"'),
        (delivery["id"], "Delivery of booking.created", page.locator(".pane"), "webhook-signature"),
        ("ada k", "member", page.locator(".pane h1"), "Ada King"),
        (booking, "booking, confirmed", page.locator(".desk-head h1"), "Power Yoga"),
    ):
        await page.keyboard.press("Control+k")
        await page.keyboard.type(pasted)
        await expect(page.get_by_role("option", name=option)).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(place).to_contain_text(shown)
        await page.keyboard.press("Escape")
