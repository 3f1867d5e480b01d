"""The reference page in a browser: what is found, guides, samples, operators, and axe-core finds nothing."""

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from services.cli.openapi.document import ORIGIN, document
from tests.harness.browser import AXE, EVERYTHING, PHONE, SHARED_LOOP, Tab, use_scheme, violations
from tests.harness.system import RunningSystem

pytestmark = SHARED_LOOP

SUMMARIES = {
    operation["operationId"]: operation["summary"]
    for methods in document()["paths"].values()
    for operation in methods.values()
}


async def follow(tab: Tab, name: str, about: str) -> None:
    """Types a name, and clicks its result with this line below it."""
    await tab.page.get_by_role("searchbox").fill(name)
    hit = tab.page.locator("#found a.hit").filter(has=tab.page.locator("code", has_text=name))
    await hit.filter(has_text=about).first.click()


async def test_results_lead_to_their_place_and_can_be_shared(reader: Tab) -> None:
    """An error code or a status to the row of the error, a field or one of its values to the field.

    `amount` is in a list that is drawn when it is opened. What every operation answers is one result. What is
    nowhere is said so.
    """
    for name, about, operation, place in (
        ("class_full", "409", "create_booking", "tr.found[data-code=class_full]"),
        ("409", "member_exists", "create_member", "tr.found[data-code=member_exists]"),
        ("amount", "answer", "get_product", ".field.found[data-field=amount]"),
        ("past_due", "status · answer", "get_membership", ".field.found[data-field=status]"),
    ):
        await follow(reader, name, f"{about} · {SUMMARIES[operation]}")
        await expect(reader.page.locator(f"#{operation} {place}")).to_be_in_viewport()
    await reader.page.get_by_role("searchbox").fill("rate_limited")
    await expect(reader.page.locator("#found a.hit")).to_have_count(1)
    await follow(reader, "rate_limited", "429 · every operation")
    await expect(reader.page.locator("#errors tr.found")).to_be_in_viewport()
    await reader.page.get_by_role("searchbox").fill("no such thing")
    await expect(reader.page.locator("#nothing")).to_be_visible()
    await reader.page.get_by_role("searchbox").fill("")
    await expect(reader.page.locator("#nothing")).to_be_hidden()
    await expect(reader.page.locator("#found a")).to_have_count(0)
    # Whoever opens the address of a result is led to the same place.
    await follow(reader, "class_spot_id", f"body · {SUMMARIES['create_booking']}")
    address = reader.page.url
    await reader.page.goto("about:blank")
    await reader.page.goto(address)
    await expect(reader.page.locator("#create_booking .field.found")).to_be_in_viewport()


DOCS = Path(__file__).resolve().parents[4] / "docs"


async def test_the_guides_are_drawn_from_the_docs(reader: Tab) -> None:
    """A section opens; its program is the one in docs/, and a link leads to the other guide.

    A section that is found opens when it is chosen.
    """
    page = reader.page
    (program,) = re.findall(r"```js\n(.*?)\n```", (DOCS / "receiving-webhooks.md").read_text(), re.DOTALL)
    section = page.locator("#webhooks-verify-then-answer")
    await expect(section.locator("pre").nth(1)).to_be_hidden()
    await section.get_by_text("Verify, then answer").click()
    await expect(section.locator("pre").nth(1)).to_have_text(program, use_inner_text=True)
    await expect(page.locator("#webhooks a[href='#mirroring']")).to_have_count(2)
    for guide in ("errors", "flows", "webhooks", "mirroring", "changelog"):
        await expect(page.locator(f"#nav a[href='#{guide}']")).to_be_visible()
        assert await page.locator(f"#{guide} details").count() > 0, guide
    await page.get_by_role("searchbox").fill("duplicates")
    await page.locator("#found a.hit", has_text="Duplicates").click()
    await expect(page.locator("#webhooks-duplicates").get_by_text("at least once")).to_be_in_viewport()


async def test_a_language_is_chosen_once_for_the_whole_page(
    reader: Tab, running_system: RunningSystem
) -> None:
    """Each operation shows its sample in curl first, and all of them follow the reader's choice."""
    page = reader.page
    paths = document()["paths"]
    for number, label in enumerate(("curl", "Python", "JavaScript")):
        await page.locator("#create_booking").get_by_role("button", name=label, exact=True).click()
        for path, name in (("/bookings", "create_booking"), ("/members", "create_member")):
            sample = paths[path]["post"]["x-codeSamples"][number]
            assert sample["label"] == label
            shown = sample["source"].replace(ORIGIN, running_system.partner_url)
            assert await page.locator(f"#{name} .code pre").first.text_content() == shown
    pressed = page.locator("#create_member .tab[data-label][aria-pressed=true]")
    await expect(pressed).to_have_text("JavaScript")


async def test_a_search_finds_the_guide_by_another_word(reader: Tab) -> None:
    """Before every field and code that has the word in it; Ctrl K leads to the search."""
    for typed, first in (
        ("signature", "Verify, then answer"),
        ("page through", "Pagination"),
        ("429", "Rate limits and times"),
        ("hold", "Booking flows"),
    ):
        await reader.page.keyboard.press("Control+k")
        await reader.page.get_by_role("searchbox").fill("")
        await reader.page.keyboard.type(typed)
        await expect(reader.page.locator("#found a.hit").first).to_contain_text(first)


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
    """On a phone, with sections, fields and a form open, the contents and what was found.

    The soak measures the whole page, also on a desktop.
    """
    page = reference.page
    await page.evaluate(PREPARE, KEPT)
    assert await page.locator(".op").count() == len(KEPT)
    await page.wait_for_selector("#create_booking .form")
    await page.evaluate(AXE)
    await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    await use_scheme(reference, "dark")
    assert await violations(reference, EVERYTHING) == []
    await page.get_by_role("button", name="Contents").click()
    await page.get_by_role("searchbox").fill("class_full")
    await expect(page.locator("#found a.hit").first).to_be_in_viewport(ratio=1)
    assert await violations(reference, EVERYTHING, "#side") == []


async def test_an_error_says_what_to_do_and_its_example_is_a_tab(reader: Tab) -> None:
    """`class_full` in the table of *Book a class*; its example is reached by status and code. No error is
    without an answer to what to do.
    """
    texts = await reader.page.locator("tr[data-code] td:last-child").all_text_contents()
    assert len(texts) > 100 and all(texts)
    card = reader.page.locator("#create_booking")
    row = card.locator("tr[data-code=class_full]")
    await expect(row.locator("td").last).to_contain_text("Send join_waitlist: true")
    await card.get_by_role("group", name="Status").get_by_role("button", name="409").click()
    await card.get_by_role("group", name="Example answer").get_by_role("button", name="class_full").click()
    await expect(card.locator(".code pre").last).to_contain_text('"code": "class_full"')
    assert await reader.page.locator(".code select").count() == 0
