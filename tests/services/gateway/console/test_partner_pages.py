"""The partner console at work: webhooks that fail and recover, and a booking followed live."""

from playwright.async_api import expect

from tests.harness.browser import Tab
from tests.harness.console_pages import book, class_block, class_of_today, open_partner_console
from tests.harness.receiver import answering, ok, receiving
from tests.harness.system import System


async def test_an_endpoint_fails_is_seen_and_delivers_after_a_retry(tab: Tab, system: System) -> None:
    """The secret is shown once, then the failure with its response, then a retry that succeeds."""
    await open_partner_console(tab, system, await system.key())
    page = tab.page
    await tab.show("webhooks")
    async with receiving() as receiver:
        receiver.answer = answering(500, text="the receiver is broken")
        await page.get_by_label("URL").fill(receiver.url)
        await page.get_by_role("button", name="Create").click()
        secret = await page.locator(".secret code").inner_text()
        assert secret.startswith("whsec_")
        await page.get_by_role("link", name=receiver.url).click()
        await page.get_by_role("button", name="Send a test").click()
        await receiver.until_count(1)
        await _refresh_until(tab, "summary", "last: 500")
        await page.locator("summary", has_text="last: 500").click()
        await expect(page.locator("#view")).to_contain_text("the receiver is broken")
        assert secret not in await page.content()
        receiver.answer = ok
        await page.get_by_role("button", name="Retry delivery 1").click()
        await _refresh_until(tab, ".badge.succeeded", "succeeded")
        await page.get_by_role("button", name="Rotate the secret").click()
        await page.get_by_role("button", name="Rotate it").click()
        renewed = await page.locator(".secret code").inner_text()
        assert renewed.startswith("whsec_") and renewed != secret


async def _refresh_until(tab: Tab, selector: str, text: str) -> None:
    for _ in range(60):
        await tab.page.get_by_role("button", name="Refresh").click()
        await tab.page.wait_for_timeout(250)
        if await tab.page.locator(selector, has_text=text).count():
            return
    raise AssertionError(f"{text!r} never appeared")


async def test_a_booking_is_followed_from_schedule_to_event_to_delivery(tab: Tab, system: System) -> None:
    """The events page shows it by itself, with its JSON and deliveries; the class shows the seat taken."""
    key = await system.key()
    made = await class_of_today(system, title="Morning Flow", name="Grace")
    async with receiving() as receiver:
        await system.partner(key).post("/webhook-endpoints", {"url": receiver.url})
        await open_partner_console(tab, system, key)
        await tab.show("events")
        await book(system, key, made)
        await receiver.until_count(1)
        row = tab.page.locator("tr", has_text="booking.created")
        await expect(row).to_be_visible()
        await row.get_by_role("link").click()
        await expect(tab.page.locator("pre.json").first).to_contain_text('"type": "booking.created"')
        await expect(tab.page.get_by_role("link", name=receiver.url)).to_be_visible()
        await tab.show("schedule")
        block = await class_block(tab, "Morning Flow")
        await expect(block).to_contain_text("1/5 taken")
        # By keyboard: a button is a button.
        await block.focus()
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.locator("#view")).to_contain_text("Grace")


async def test_a_page_tells_its_calls_and_an_error_its_request(tab: Tab, system: System) -> None:
    """The curl lines are what a program would send, and the request log has the refused request."""
    await open_partner_console(tab, system, await system.key())
    await tab.show("webhooks")
    await tab.page.get_by_label("URL").fill("https://user:password@example.com/hook")
    await tab.page.get_by_role("button", name="Create").click()
    problem = tab.page.locator(".problem")
    await expect(problem).to_contain_text("validation_failed")
    await tab.page.get_by_text("Show curl").click()
    await expect(tab.page.locator("#calls pre").first).to_contain_text("curl -sS -X POST")
    assert "stc_" not in await tab.page.locator("#calls").inner_text()
    await problem.get_by_role("link").click()
    await expect(tab.page.locator("h1")).to_have_text("Requests")
    for _ in range(60):
        if await tab.page.locator("td", has_text="validation_failed").count():
            break
        await tab.page.get_by_role("button", name="Show", exact=True).click()
        await tab.page.wait_for_timeout(250)
    await expect(tab.page.locator("td", has_text="validation_failed")).to_have_count(1)
