"""The operators' console in a real browser."""

import json

from playwright.async_api import Browser, expect

from shared.wire import new_id
from tests.harness.browser import Tab, new_tab
from tests.harness.console_pages import (
    OPERATOR_PAGES,
    book,
    class_block,
    class_of_today,
    open_operator_console,
    open_partner_console,
)
from tests.harness.system import System

MARKUP = '<img src=x onerror="window.hacked=1">'


async def choose_studio(tab: Tab, studio_id: str) -> None:
    await tab.page.get_by_label("Studio", exact=True).select_option(studio_id)
    await tab.page.wait_for_url(f"**studio={studio_id}**")
    await tab.page.wait_for_selector("#view .page:not([aria-busy])")


async def test_a_typed_token_opens_every_page_and_is_kept_nowhere(tab: Tab, system: System) -> None:
    """Neither in storage nor in the address; signing out ends it."""
    await open_operator_console(tab, system)
    for page in OPERATOR_PAGES:
        await tab.show(page)
        assert await tab.page.locator("#view .problem").count() == 0, page
    stored = await tab.page.evaluate(
        "() => JSON.stringify([location.href, document.cookie, {...localStorage}])"
    )
    assert system.running.operator_token not in stored and "stc_" not in stored
    assert system.running.operator_token not in await tab.page.content()
    await tab.page.get_by_role("button", name="Sign out").click()
    await expect(tab.page.locator("h1")).to_have_text("Sign in")
    await tab.page.get_by_label("Token").fill("wrong")
    await tab.page.get_by_role("button", name="Sign in").click()
    await expect(tab.page.locator(".problem")).to_contain_text("invalid_operator_token")


async def test_traffic_is_read_off_the_metrics(tab: Tab, system: System) -> None:
    """The gateway's requests of all routes: rate, failures and latencies between two readings."""
    lines = [
        'studio_requests_total{method="GET",route="/classes/{class_id}",service="gateway",status="200"} 8.0',
        'studio_requests_total{method="GET",route="",service="gateway",status="503"} 2.0',
        'studio_requests_total{method="GET",route="/x",service="catalog",status="200"} 99.0',
        'studio_request_seconds_bucket{le="0.005",route="/classes/{class_id}",service="gateway"} 9.0',
        'studio_request_seconds_bucket{le="0.01",route="/classes/{class_id}",service="gateway"} 10.0',
        'studio_request_seconds_bucket{le="+Inf",route="/classes/{class_id}",service="gateway"} 10.0',
    ]
    await tab.page.goto(f"{system.running.operator_url}/console")
    measured = await tab.page.evaluate(
        """async (text) => { const traffic = await import("/console/operators/traffic.js");
        return traffic.between(traffic.readMetrics(""), traffic.readMetrics(text), 5); }""",
        "\n".join(lines),
    )
    assert list(measured.values()) == [2, 0.4, 5, 10]


async def test_a_file_with_bad_lines_is_imported_and_they_are_named(tab: Tab, system: System) -> None:
    """Good lines are stored even if others are bad; each bad one is shown by number and reason."""
    good = {"object": "location", "id": new_id(), "name": MARKUP, "timezone": "UTC", "active": True}
    lines = [json.dumps(good | {"is_primary": True}), "not json", '{"object":"spaceship"}']
    await open_operator_console(tab, system)
    await tab.show("imports")
    await choose_studio(tab, system.studio_id)
    payload = {
        "name": "studio.ndjson",
        "mimeType": "application/x-ndjson",
        "buffer": "\n".join(lines).encode(),
    }
    await tab.page.get_by_label("A file").set_input_files(payload)  # type: ignore[arg-type]
    await tab.page.get_by_role("button", name="Import").click()
    await expect(tab.page.locator("#view")).to_contain_text("3 lines read, 1 imported, 2 bad")
    rows = tab.page.locator("table.rows tbody tr td:first-child")
    assert await rows.all_inner_texts() == ["2", "3"]


async def test_the_desk_checks_a_member_in_and_the_audit_tells(tab: Tab, system: System) -> None:
    """A staff token's session sees its own studio's desk; the audit log has the action and the token's id."""
    key = await system.key()
    made = await class_of_today(system, title="Evening Flow", name=MARKUP)
    booking_id = await book(system, key, made)
    staff = await system.staff_token("staff")
    await open_operator_console(tab, system, staff["token"])
    assert await tab.page.locator("#nav a").all_inner_texts() == ["Studios", "Schedule desk"]
    await tab.show("desk")
    await (await class_block(tab, "Evening Flow")).click()
    await tab.page.get_by_role("button", name="Check in").click()
    await expect(tab.page.locator(".badge.checked_in")).to_be_visible()
    assert await tab.page.locator("#view img").count() == 0
    assert await tab.page.evaluate("window.hacked") is None
    entries = (await system.operator.get("/audit", limit=200)).json()
    while entries["has_more"]:
        entries = (await system.operator.get("/audit", limit=200, cursor=entries["next_cursor"])).json()
    found = [entry for entry in entries["data"] if entry["target"] == booking_id]
    assert [(entry["actor"], entry["action"]) for entry in found] == [(staff["id"], "bookings.check-in")]


async def test_revoking_a_key_in_one_console_ends_the_session_in_the_other(
    tab: Tab, browser: Browser, system: System
) -> None:
    """The operator has to confirm it; the partner's page ends by itself."""
    issued = await system.issue(name="Leaked")
    async with new_tab(browser) as partner:
        await open_partner_console(partner, system, issued["key"])
        await partner.show("events")
        await open_operator_console(tab, system)
        await tab.show("clients")
        await choose_studio(tab, system.studio_id)
        await tab.page.get_by_role("button", name="Revoke Leaked").click()
        await expect(tab.page.locator("dialog")).to_contain_text("its console sessions end")
        await tab.page.get_by_role("button", name="Revoke it").click()
        await expect(tab.page.locator(".badge", has_text="revoked")).to_be_visible()
        await expect(partner.page.locator("h1")).to_have_text("The session has ended", timeout=30_000)
