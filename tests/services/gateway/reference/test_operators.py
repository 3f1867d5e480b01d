"""The operators' reference is drawn by the same code from its own document."""

from playwright.async_api import expect

from tests.harness.browser import Tab
from tests.harness.system import RunningSystem


async def test_the_operators_reference_can_be_searched_and_tried(
    tab: Tab, running_system: RunningSystem
) -> None:
    """It has no guides; the token goes into the header that its document names."""
    page = tab.page
    await page.goto(f"{running_system.operator_url}/docs")
    await page.wait_for_selector("#list_studios")
    await page.get_by_role("searchbox").fill("insufficient_role")
    await expect(page.locator("#found a.hit").first).to_contain_text("403")
    card = page.locator("#list_studios")
    await card.get_by_text("Try it", exact=True).click()
    await card.get_by_label("Token").fill(running_system.operator_token)
    await card.get_by_role("button", name="Send GET").click()
    await expect(card.locator(".result")).to_contain_text("200")
    await expect(card.locator(".result")).to_contain_text('"object": "list"')
