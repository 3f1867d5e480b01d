"""The search box finds what is inside the operations, and its results lead there."""

from playwright.async_api import expect

from services.cli.openapi.document import document
from tests.harness.browser import Tab

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


async def test_results_lead_to_their_place(reference: Tab) -> None:
    """An error code or a status to the row of the error, a field or one of its values to the field.

    `amount` is in a list that is drawn when it is opened. What every operation answers is one result.
    """
    for name, about, operation, place in (
        ("class_full", "409", "create_booking", "tr.found[data-code=class_full]"),
        ("409", "member_exists", "create_member", "tr.found[data-code=member_exists]"),
        ("amount", "answer", "get_product", ".field.found[data-field=amount]"),
        ("past_due", "status · answer", "get_membership", ".field.found[data-field=status]"),
    ):
        await follow(reference, name, f"{about} · {SUMMARIES[operation]}")
        await expect(reference.page.locator(f"#{operation} {place}")).to_be_in_viewport()
    await reference.page.get_by_role("searchbox").fill("rate_limited")
    await expect(reference.page.locator("#found a.hit")).to_have_count(1)
    await follow(reference, "rate_limited", "429 · every operation")
    await expect(reference.page.locator("#errors tr.found")).to_be_in_viewport()


async def test_the_address_of_a_result_can_be_shared(reference: Tab) -> None:
    """Whoever opens it is led to the same place. What is nowhere is said so."""
    await follow(reference, "class_spot_id", f"body · {SUMMARIES['create_booking']}")
    address = reference.page.url
    await reference.page.goto("about:blank")
    await reference.page.goto(address)
    await expect(reference.page.locator("#create_booking .field.found")).to_be_in_viewport()
    await reference.page.get_by_role("searchbox").fill("no such thing")
    await expect(reference.page.locator("#nothing")).to_be_visible()
    await reference.page.get_by_role("searchbox").fill("")
    await expect(reference.page.locator("#nothing")).to_be_hidden()
    await expect(reference.page.locator("#found a")).to_have_count(0)
