"""axe-core finds nothing in the reference, light and dark, on a desktop and on a phone."""

import pytest
from playwright.async_api import expect

from tests.harness.accessibility import AXE, EVERYTHING, check_widths, violations
from tests.harness.browser import Tab

KEPT = ("create_booking", "delete_webhook_endpoint", "on_booking_created")
# axe takes minutes for the whole page, so most operations are removed. The rest is opened.
PREPARE = """kept => {
    const link = (id) => document.querySelector(`#nav a[href="#${id}"]`);
    for (const op of document.querySelectorAll(".op")) {
        if (kept.includes(op.id)) continue;
        link(op.id).remove();
        op.remove();
    }
    const opened = ["#webhooks-verify-then-answer", "#errors details", ".op details"];
    for (const box of document.querySelectorAll(opened.join())) box.open = true;
}"""


@pytest.mark.timeout(240)
async def test_the_reference_passes_axe(reference: Tab) -> None:
    """With sections, fields and a form open; on a phone also with the contents and what was found."""
    page = reference.page
    await page.evaluate(PREPARE, KEPT)
    assert await page.locator(".op").count() == len(KEPT)
    await page.wait_for_selector("#create_booking .form")
    await page.evaluate(AXE)
    assert await check_widths(reference) == []
    await page.get_by_role("button", name="Contents").click()
    await page.get_by_role("searchbox").fill("class_full")
    await expect(page.locator("#found a.hit").first).to_be_in_viewport(ratio=1)
    assert await violations(reference, EVERYTHING, "#side") == []
