"""`Try it`: a form sends to the same origin and shows the response; the key stays in the page's memory."""

import json

from playwright.async_api import Locator, Request, expect

from shared.wire import new_id
from tests.harness.browser import SHARED_LOOP, Tab
from tests.harness.console_pages import class_of_today
from tests.harness.system import System

pytestmark = SHARED_LOOP

EVERYTHING_STORED = """async () => JSON.stringify([
    {...localStorage}, {...sessionStorage}, document.cookie, history.state,
    await indexedDB.databases(), await caches.keys(),
])"""


async def opened(tab: Tab, operation: str, key: str) -> Locator:
    card = tab.page.locator(f"#{operation}")
    await card.get_by_text("Try it", exact=True).click()
    if key:
        await card.get_by_label("X-Service-Key").fill(key)
    return card


async def test_a_booking_is_made_from_the_page(reference: Tab, system: System) -> None:
    """Status, request id, rate limit and body are shown, and the key is filled in for the next operation.

    A required field is asked for before anything is sent; a refusal is a response like any other.
    """
    made, key = await class_of_today(system), await system.key()
    card = await opened(reference, "create_booking", key)
    body = {"class_id": made.class_ids[0], "member_id": made.member_ids[0]}
    await card.get_by_label("Body").fill(json.dumps(body))
    await card.get_by_role("button", name="Send POST").click()
    result = card.locator(".result")
    await expect(result).to_contain_text("201")
    await expect(result).to_contain_text('"status": "confirmed"')
    await expect(result.locator(".headers")).to_contain_text("x-request-id: ")
    await expect(result.locator(".headers")).to_contain_text("ratelimit-remaining: ")
    other = await opened(reference, "get_class", "")
    await other.get_by_label("class_id").fill(made.class_ids[0])
    await other.get_by_role("button", name="Send GET").click()
    await expect(other.locator(".result .headers")).to_contain_text("etag: ")
    await expect(other.locator(".result")).to_contain_text('"booked_count": 1')
    await other.get_by_label("class_id").fill("")
    await other.get_by_role("button", name="Send GET").click()
    await expect(other.locator(".result")).to_contain_text("class_id is missing.")
    await other.get_by_label("X-Service-Key").fill("stk_unknown_key_of_nobody")
    await other.get_by_label("class_id").fill(new_id())
    await other.get_by_role("button", name="Send GET").click()
    await expect(other.locator(".result")).to_contain_text("invalid_api_key")


async def test_the_key_stays_in_the_pages_memory(reference: Tab, system: System) -> None:
    """Not in storage, a cookie, an address or the log. It goes to our origin, and a reload forgets it."""
    key, page = await system.key(), reference.page
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request))
    card = await opened(reference, "list_members", key)
    await card.get_by_label("email").fill(f"{new_id()}@example.com")
    await card.get_by_role("button", name="Send GET").click()
    await expect(card.locator(".result")).to_contain_text('"data": []')
    (request,) = sent
    assert (await request.all_headers())["x-service-key"] == key
    assert request.url.startswith(f"{system.running.partner_url}/partner/v1/members?email=")
    assert key not in request.url and key not in page.url
    stored = await page.evaluate(EVERYTHING_STORED)
    assert json.loads(stored) == [{}, {}, "", None, [], []]
    assert key not in system.running.log_text()
    await page.reload()
    card = await opened(reference, "list_members", "")
    await expect(card.get_by_label("X-Service-Key")).to_have_value("")
