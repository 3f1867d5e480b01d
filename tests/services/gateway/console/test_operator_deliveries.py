"""Deliveries in the operators' console: what failed and why, one with its attempts, and a pasted id."""

from playwright.async_api import expect

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


async def test_a_pasted_delivery_and_event_open(tab: Tab, system: System) -> None:
    """For managers; staff have no such page."""
    desk = await front_desk(system)
    key = await system.key(studio=desk.studio_id)
    async with receiving() as receiver:
        await system.partner(key).create("/webhook-endpoints", {"url": receiver.url})
        await desk.book("Ada King")
        (got, *_) = await receiver.until_count(1)
    path = f"/studios/{desk.studio_id}/webhook-deliveries"
    (delivery, *_) = (await desk.api.until(path))["data"]
    await desk.open(tab, "manager")
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type(got.event_id)
    await expect(tab.page.get_by_role("option", name="booking.created")).to_be_visible()
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("dialog")).to_contain_text('"booking.created"')
    await tab.page.keyboard.press("Escape")
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type(delivery["id"])
    await expect(tab.page.get_by_role("option", name="Delivery of booking.created")).to_be_visible()
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator(".pane")).to_contain_text("webhook-signature")
    staff = system.staff(await desk.token("staff"))
    for one in (f"{path}/{delivery['id']}", f"/studios/{desk.studio_id}/events/{got.event_id}"):
        assert (await staff.get(one)).code == "insufficient_role"
