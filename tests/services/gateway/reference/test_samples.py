"""The samples on the page are those of the document, with the page's own origin."""

from playwright.async_api import expect

from services.cli.openapi.document import ORIGIN, document
from tests.harness.browser import Tab
from tests.harness.system import RunningSystem


async def test_a_language_is_chosen_once_for_the_whole_page(
    reference: Tab, running_system: RunningSystem
) -> None:
    """Each operation shows its sample in curl first, and all of them follow the reader's choice."""
    page = reference.page
    paths = document()["paths"]
    for number, label in enumerate(("curl", "Python", "JavaScript")):
        await page.locator("#create_booking").get_by_role("button", name=label, exact=True).click()
        for path, name in (("/bookings", "create_booking"), ("/members", "create_member")):
            sample = paths[path]["post"]["x-codeSamples"][number]
            assert sample["label"] == label
            shown = sample["source"].replace(ORIGIN, running_system.partner_url)
            assert await page.locator(f"#{name} .code pre").first.text_content() == shown
    pressed = page.locator("#create_member .tab[aria-pressed=true]")
    await expect(pressed).to_have_text("JavaScript")
