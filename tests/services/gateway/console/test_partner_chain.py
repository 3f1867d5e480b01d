"""The partner engineer while debugging: request, event, delivery, attempt, endpoint, by clicks alone."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from playwright.async_api import Page, Route, expect

from tests.harness import import_lines
from tests.harness.browser import SHARED_LOOP, Tab
from tests.harness.console_pages import book, class_of_today, open_partner_console
from tests.harness.http import Client
from tests.harness.receiver import answering, ok, receiving
from tests.harness.system import System

pytestmark = SHARED_LOOP

# More than a page of deliveries, the most that the console reads at once.
MANY = 220


def crumb(page: Page, text: str) -> Any:
    return page.locator(".pane .crumbs a", has_text=text)


async def test_the_chain_is_walked_both_ways_by_clicks_alone(tab: Tab, system: System) -> None:
    """request → event → delivery → attempt → endpoint, and back; each address opens the same view."""
    key = await system.key()
    made = await class_of_today(system, title="Power Yoga", name="Ada")
    async with receiving() as receiver:
        receiver.response = answering(500, text='{"message": "could not connect"}')
        body = {"url": receiver.url, "description": "legacy CRM", "event_types": ["booking.created"]}
        await system.partner(key).create("/webhook-endpoints", body)
        await book(system, key, made)
        await receiver.until_count(1)
    await open_partner_console(tab, system, key)
    page = tab.page
    await tab.show("requests")
    await page.locator("a.item", has_text="/bookings").click()
    pane = page.locator(".pane")
    await expect(pane.locator("h1")).to_contain_text("201")
    await pane.locator("a.item", has_text="booking.created").click()
    await expect(pane.locator("h1")).to_contain_text("booked Power Yoga")
    await pane.locator("a.item", has_text="legacy CRM").first.click()
    await expect(page.locator(".side h1")).to_have_text("legacy CRM")
    await pane.get_by_role("link", name="Attempt 1: 500").click()
    await expect(pane).to_contain_text("webhook-signature")
    await expect(pane).to_contain_text("could not connect")
    address = page.url
    await crumb(page, "booking.created").click()
    await expect(pane.locator("h1")).to_contain_text("booked Power Yoga")
    await crumb(page, "POST /bookings").click()
    await expect(pane.locator("h1")).to_contain_text("/bookings")
    await page.goto(address)
    await page.reload()
    await expect(pane).to_contain_text("could not connect")
    await crumb(page, "legacy CRM").click()
    await expect(page.locator(".overview")).to_contain_text("Send test event")


async def test_the_newest_of_many_deliveries_is_the_first_row_and_its_event_tells_it(
    tab: Tab, system: System
) -> None:
    """An event that was delivered is never shown as not delivered, however many were before."""
    key = await system.key()
    async with receiving() as receiver:
        endpoint = await system.partner(key).create("/webhook-endpoints", {"url": receiver.url})
        await system.import_lines([import_lines.member() for _ in range(MANY)], send_events=True)
        await receiver.until_count(MANY, seconds=60)
        receiver.response = answering(204)
        await open_partner_console(tab, system, key)
        await tab.show("webhooks")
        await tab.page.locator(".endpoint h2 a").click()
        await expect(tab.page.locator("a.item")).not_to_have_count(0)
        await tab.page.get_by_role("button", name="Send test event").click()
        await expect(tab.page.locator("a.item").first).to_contain_text("webhook.test")
        await expect(tab.page.locator("a.item").first).to_contain_text("204")
        await expect(tab.page.locator(".pane .timeline .good")).to_have_count(1)
        await tab.page.get_by_role("link", name="Event", exact=True).click()
        await expect(tab.page.locator(".pane a.item", has_text="Attempt 1")).to_contain_text("204")
        link = await tab.page.locator(".pane a.item").first.get_attribute("href")
        assert endpoint["id"] in (link or "")


async def keep_on(client: Client) -> None:
    """A stream of events."""
    for number in count():
        body = {"email": f"a{number}@example.com", "first_name": "A", "last_name": "B"}
        await client.create("/members", body)
        await asyncio.sleep(0.5)


async def test_a_failing_endpoint_is_red_and_a_retry_changes_its_row_in_place(
    tab: Tab, system: System
) -> None:
    """On Webhooks and Home within seconds, in a busy studio too, and without asking once for each event.

    The retry turns the row green without a reload.
    """
    key, page = await system.key(), tab.page
    client = system.partner(key)
    async with receiving() as receiver:
        receiver.response = answering(500, text="the receiver is broken")
        body = {"url": receiver.url, "description": "Orders", "event_types": ["booking.created"]}
        endpoint = await client.create("/webhook-endpoints", body)
        await open_partner_console(tab, system, key)
        await tab.show("webhooks")
        stream = asyncio.create_task(keep_on(client))
        try:
            await client.post(f"/webhook-endpoints/{endpoint['id']}/test")
            failing = page.locator(".endpoint.failing .state.bad")
            await expect(failing).to_contain_text("Failing since", timeout=10_000)
            await expect(page.locator('#nav a[data-page="webhooks"] .badge')).to_have_text("1")
            await tab.show("home")
            line = page.locator(".lines li", has_text="Orders")
            await expect(line).to_contain_text("500 the receiver is broken", timeout=10_000)
            health: list[str] = []
            page.on("request", lambda one: health.append(one.url) if "/webhook-health" in one.url else None)
            await asyncio.sleep(6)
            assert len(health) <= 2
        finally:
            stream.cancel()
        await line.get_by_role("link").click()
        await page.locator("a.item").first.click()
        await expect(page.locator(".pane pre")).to_have_text("the receiver is broken")
        receiver.response = ok
        await page.get_by_role("button", name="Retry now").click()
        await expect(page.locator("a.item .dot").first).to_have_class(re.compile("good"))
        await expect(page.locator(".pane .timeline a").last.locator("i")).to_have_class(re.compile("good"))
        await expect(page.locator(".side .state")).not_to_contain_text("Failing")


async def test_an_endpoint_is_made_with_chosen_types_and_tested_in_one_sheet(
    tab: Tab, system: System
) -> None:
    """No typed enum, the secret once, and what the receiver answered to the first test."""
    await open_partner_console(tab, system, await system.key())
    page = tab.page
    await tab.show("webhooks")
    async with receiving() as receiver:
        await page.get_by_role("button", name="Add endpoint").first.click()
        sheet = page.get_by_role("dialog")
        await sheet.get_by_label("Address").fill("ftp://example.com")
        await expect(sheet).to_contain_text("Only https")
        await sheet.get_by_label("Address").fill(receiver.url)
        await sheet.get_by_role("button", name="Only some").click()
        await sheet.get_by_label("Search event types").fill("checked")
        await sheet.get_by_label("booking.checked_in").check()
        await sheet.get_by_role("button", name="Create").click()
        secret = await sheet.locator(".secret code").inner_text()
        for language in ("Python", "Node", "Go"):
            await sheet.get_by_role("button", name=language, exact=True).click()
            await expect(sheet.locator("pre.code").first).to_contain_text(f'"{secret}"')
            assert "WEBHOOK_SECRET" not in await sheet.locator("pre.code").first.inner_text()
        assert secret.startswith("whsec_")
        await expect(sheet.locator("pre")).to_contain_text(secret)
        await page.keyboard.press("Escape")
        await page.mouse.click(5, 5)
        await expect(sheet.locator(".secret code")).to_have_text(secret)  # it is shown only now
        await sheet.get_by_role("button", name="Send test event").click()
        await expect(sheet.locator(".tested")).to_contain_text("200 in")
        await sheet.get_by_role("link", name="Open its page").click()
        await expect(page.locator(".overview")).to_contain_text("booking.checked_in")
        assert secret not in await page.content()
        await page.locator(".side summary").click()
        await page.get_by_role("button", name="Rotate secret").click()
        await page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
        renewed = await page.locator("dialog .secret code").inner_text()
        assert renewed.startswith("whsec_") and renewed != secret


async def test_a_refused_request_is_explained(tab: Tab, system: System) -> None:
    """409 is amber, its code leads to the reference; the histogram counts it, and its span filters.

    What failed at the server is red.
    """
    key = await system.key()
    made = await class_of_today(system)
    await book(system, key, made)
    refused = await system.partner(key).book(made.class_ids[0], made.member_ids[0])
    assert refused.status == 409
    await open_partner_console(tab, system, key)
    page = tab.page
    await tab.show("requests")
    row = page.locator("a.item", has_text="already_booked")
    await expect(row.locator(".dot")).to_have_class(re.compile("warn"))
    await expect(page.locator("st-bars .bar-warn")).to_have_count(1)
    await row.click()
    await expect(page.locator(".pane .notice")).to_contain_text("already")
    link = page.get_by_role("link", name="already_booked in the reference")
    assert await link.get_attribute("href") == "/docs#create_booking/error/already_booked"
    await page.keyboard.press("Escape")
    await expect(page.locator(".pane.hint")).to_be_visible()
    box = await page.locator("st-bars svg").bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 2, box["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 60, box["y"] + 20)
    await page.mouse.up()
    await expect(page.locator(".side")).to_contain_text("No request fits.")
    await page.get_by_role("link", name="Show all").click()
    await expect(row).to_be_visible()

    async def failed(route: Route) -> None:
        body = await (await route.fetch()).json()
        rows = [one | {"status": 500, "error_code": "internal_error"} for one in body["data"]]
        await route.fulfill(json=body | {"data": rows})

    await page.route("**/partner/v1/requests?*", failed)
    await tab.show("home")
    await tab.show("requests")
    broken = page.locator("a.item", has_text="internal_error").first
    await expect(broken.locator(".dot")).to_have_class(re.compile("bad"))
    await broken.click()
    await expect(page.locator(".pane")).to_contain_text("Retry with the same Idempotency-Key")
    await page.unroute_all(behavior="ignoreErrors")


async def test_the_span_of_requests_is_in_the_address_for_chart_and_list(tab: Tab, system: System) -> None:
    """What is older is in neither; the address opens the same view again."""
    key = await system.key()
    await system.partner(key).get("/studio")
    await open_partner_console(tab, system, key)
    page = tab.page
    await tab.show("requests")
    old = datetime.now(UTC) - timedelta(hours=3)

    async def age(route: Route) -> None:
        body = await (await route.fetch()).json()
        rows = [row | {"at": old.isoformat()} for row in body["data"]]
        await route.fulfill(json=body | {"data": rows})

    await page.route("**/partner/v1/requests?*", age)
    counts: list[str] = []
    page.on("request", lambda request: counts.append(request.url) if "/counts" in request.url else None)
    await page.get_by_role("button", name="1h", exact=True).click()
    await expect(page.locator(".side")).to_contain_text("No request in the last hour.")
    assert page.url.endswith("#/requests?span=1h")
    await page.reload()
    await expect(page.locator(".side")).to_contain_text("No request in the last hour.")
    await expect(page.get_by_role("button", name="1h", exact=True)).to_have_attribute("aria-pressed", "true")
    assert {"window=1h" in url for url in counts} == {True}
    await page.get_by_role("link", name="Show 7 days").click()
    await expect(page.locator("a.item", has_text="/studio")).to_be_visible()
    assert "window=7d" in counts[-1]


async def test_a_pasted_id_opens_its_page(tab: Tab, system: System) -> None:
    """Ctrl K, paste, Enter. A booking opens its class beside the calendar, with its roster in view.

    The palette keeps the focus until it is left, and that leaves the page as it is.
    """
    key, page = await system.key(), tab.page
    made = await class_of_today(system, title="Power Yoga")
    client = system.partner(key)
    async with receiving() as receiver:
        await client.post("/webhook-endpoints", {"url": receiver.url})
        booking = await book(system, key, made)
        await receiver.until_count(1)
    event = (await client.get("/events?type=booking.created")).json()["data"][0]
    delivery = (await client.get(f"/webhook-deliveries?event_id={event['id']}")).json()["data"][0]
    await open_partner_console(tab, system, key)
    dialog = page.get_by_role("dialog")
    for pasted, option, title in (
        (delivery["id"], "delivery", "booked Power Yoga"),
        (event["request_id"], "request", "/bookings"),
        (event["id"], "booking.created", "booked Power Yoga"),
        (booking, "booking", "^Power Yoga$"),
    ):
        await page.keyboard.press("Control+k")
        await dialog.get_by_role("combobox").fill(pasted)
        await expect(dialog.get_by_role("option", name=option)).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(page.locator(".pane h1")).to_contain_text(re.compile(title))
    for leave in (page.keyboard.press("Escape"), page.keyboard.press("Tab"), page.mouse.click(20, 500)):
        await page.keyboard.press("Control+k")
        await expect(dialog.get_by_role("combobox")).to_be_focused()
        focus = "() => { document.querySelector('.pane').focus(); return document.activeElement.role; }"
        assert await page.evaluate(focus) == "combobox", "no key that is typed now goes elsewhere"
        await leave
        await expect(dialog).to_have_count(0)
        await expect(page.locator(".pane h1")).to_have_text("Power Yoga")
    await page.set_viewport_size({"width": 1024, "height": 768})
    await expect(page.locator(".pane .people li")).to_contain_text("Ada")
    box = await page.locator(".pane .people").bounding_box()
    assert box and box["y"] + box["height"] <= 768 and box["x"] + box["width"] <= 1024
