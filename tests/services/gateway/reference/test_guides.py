"""The guides on the page: webhooks, mirroring, errors and the changelog."""

import re
from pathlib import Path

from playwright.async_api import expect

from tests.harness.browser import Tab

DOCS = Path(__file__).resolve().parents[4] / "docs"


async def test_the_guides_are_drawn_from_the_docs(reference: Tab) -> None:
    """A section opens; its program is the one in docs/, and a link leads to the other guide."""
    page = reference.page
    (program,) = re.findall(r"```js\n(.*?)\n```", (DOCS / "receiving-webhooks.md").read_text(), re.DOTALL)
    section = page.locator("#webhooks-verify-then-answer")
    await expect(section.locator("pre").nth(1)).to_be_hidden()
    await section.get_by_text("Verify, then answer").click()
    await expect(section.locator("pre").nth(1)).to_have_text(program, use_inner_text=True)
    await expect(page.locator("#webhooks a[href='#mirroring']")).to_have_count(1)
    for guide in ("errors", "webhooks", "mirroring", "changelog"):
        await expect(page.locator(f"#nav a[href='#{guide}']")).to_be_visible()
        assert await page.locator(f"#{guide} details").count() > 0, guide


async def test_a_section_of_a_guide_is_found(reference: Tab) -> None:
    """It opens when it is chosen."""
    await reference.page.get_by_role("searchbox").fill("duplicates")
    await reference.page.locator("#found a.hit", has_text="Duplicates").click()
    section = reference.page.locator("#webhooks-duplicates")
    await expect(section.get_by_text("at least once")).to_be_in_viewport()
