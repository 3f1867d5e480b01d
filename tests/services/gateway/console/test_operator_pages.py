"""The operators' console in a real browser: who sees what, and the pages of managers and operators."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta

from playwright.async_api import Browser, Route, expect

from shared.routing import SCOPES
from shared.wire import new_id
from tests.harness.browser import SHARED_LOOP, Tab, new_tab
from tests.harness.console_pages import (
    MANAGER_PAGES,
    OPERATOR_PAGES,
    open_operator_console,
    open_partner_console,
    sign_in,
)
from tests.harness.front_desk import front_desk
from tests.harness.receiver import answering, receiving
from tests.harness.system import System

pytestmark = SHARED_LOOP

MARKUP = '<img src=x onerror="window.hacked=1">'
# What a person reads: without chips, whose text is short, and without raw payloads.
ID_ON_PAGE = r"""() => {
    const raw = /[0-9a-f]{8}-[0-9a-f]{4}-/, found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const { parentElement, data } = walk.currentNode;
        if (raw.test(data) && !parentElement.closest("pre, st-json, .chip, script")) found.push(data.trim());
    }
    return found;
}"""


async def choose(tab: Tab, studio: str) -> None:
    await tab.page.locator("#studio").click()
    await tab.page.get_by_label("Find a studio").last.fill(studio)
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator("#who")).to_contain_text(studio)


async def name_of(system: System, studio_id: str) -> str:
    return str((await system.operator.get(f"/studios/{studio_id}")).json()["name"])


async def test_a_typed_token_opens_every_page_and_is_kept_nowhere(tab: Tab, system: System) -> None:
    """Neither in storage nor in the address; signing out ends it.

    The studio is in the address, and without an address kept in the browser. Its name is shown whole.
    """
    page, token = tab.page, system.running.operator_token
    desk = await front_desk(system)
    name = f"Riverside {new_id()[:6]}"
    await system.new_studio(name=name)
    await open_operator_console(tab, system)
    await choose(tab, name)
    for one in OPERATOR_PAGES:
        await tab.show(one)
        assert await page.locator("#view .problem").count() == 0, one
        await expect(page.locator("#who")).to_contain_text(name)
    assert "studio=" in page.url
    for part in (".switcher span", ".find span"):
        assert await page.locator(part).evaluate("e => e.scrollWidth <= e.clientWidth"), part
    stored = await page.evaluate("() => JSON.stringify([location.href, document.cookie, {...localStorage}])")
    assert token not in stored and "stc_" not in stored and token not in await page.content()
    await page.get_by_role("button", name="Dark theme").click()
    await page.reload()
    await expect(page.locator("#who")).to_contain_text(name)
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await page.goto(f"{system.running.operator_url}/console")
    await expect(page.locator("#who")).to_contain_text(name)
    await page.goto(f"{system.running.operator_url}/console?studio={desk.studio_id}")
    await expect(page.locator("#who")).to_contain_text("Northlight")
    await page.get_by_label("Account: operator").click()
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    await page.get_by_label("Token").fill("wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.locator(".problem")).to_contain_text("invalid_operator_token")


async def test_no_page_shows_an_id_outside_a_chip(tab: Tab, system: System) -> None:
    """With a class, a member, a partner whose endpoint fails, a request and an entry of the audit log."""
    page, desk = tab.page, await front_desk(system)
    issued = await system.issue(studio=desk.studio_id, name="Website", client="Widgets")
    partner = system.partner(issued["key"])
    async with receiving() as receiver:
        receiver.response = answering(500)
        await partner.create("/webhook-endpoints", {"url": receiver.url, "description": "legacy CRM"})
        await desk.book("Ada King")
        await receiver.until_count(1)
        await open_operator_console(tab, system)
        await page.goto(f"{system.running.operator_url}/console?studio={desk.studio_id}")
        await page.get_by_role("button", name="Check in Ada King").click()
        await page.locator(".toast").wait_for()
        seen = {}
        for one in OPERATOR_PAGES:
            await tab.show(one)
            if one == "system":
                await expect(page.locator("#view li", has_text="legacy CRM").first).to_be_visible()
            if one == "audit":
                await page.locator("st-list a.item").first.click()
                await expect(page.get_by_role("region", name="Entry")).to_contain_text("Who")
            seen[one] = await page.evaluate(ID_ON_PAGE)
        parts = ("keys", "limits", "endpoints", "requests")
        client = f"partners/{issued['client_id']}"
        for address in (f"members/{desk.members['Ada King']}", *(f"{client}/{part}" for part in parts)):
            await page.evaluate("hash => { location.hash = hash; }", f"#/{address}")
            await page.wait_for_timeout(300)
            await expect(page.locator("#view .skeleton")).to_have_count(0)
            seen[address] = await page.evaluate(ID_ON_PAGE)
    assert {one: texts for one, texts in seen.items() if texts} == {}


async def test_a_key_is_made_with_presets_and_shown_once(tab: Tab, browser: Browser, system: System) -> None:
    """The grid has every scope that there is; the partner's page has it with its expiry and location.

    That page fits a phone. Its console link counts down, and opens the partner's console for an hour.
    """
    page, desk = tab.page, await front_desk(system)
    await desk.open(tab, "manager")
    rail = await page.locator("#nav a").evaluate_all("all => all.map(a => a.dataset.page)")
    assert tuple(rail) == MANAGER_PAGES and await page.locator("#studio").count() == 0
    scopes = await page.evaluate("async () => (await import('/console/operators/keys.js')).SCOPES")
    assert sorted(scopes) == sorted(SCOPES)
    await tab.show("partners")
    await page.get_by_role("button", name="New partner").click()
    sheet = page.get_by_role("dialog")
    await sheet.get_by_label("Partner", exact=True).fill("Widgets")
    await sheet.get_by_role("button", name="Read-only schedule").click()
    await sheet.get_by_label("Bookings: read").check()
    await sheet.get_by_label("Expires").last.select_option(label="In 90 days")
    await sheet.get_by_role("button", name="Issue key").click()
    secret = await page.get_by_label("Key of Widgets").last.input_value()
    key = (await system.partner(secret).get("/key")).json()
    assert key["scopes"] == ["bookings:read", "schedule:read", "studio:read"]
    await page.get_by_role("button", name="I have stored it").click()
    row = page.locator("tbody tr")
    await expect(row).to_contain_text("3 scopes")
    await expect(row).to_contain_text("All")
    assert secret not in await page.content()
    await page.evaluate("hash => { location.hash = hash; }", f"#/partners/{key['client_id']}")
    revoke = page.get_by_role("button", name="Revoke").first
    await expect(revoke).to_be_visible()
    await page.set_viewport_size({"width": 390, "height": 844})
    box = await revoke.bounding_box()
    assert box and box["x"] + box["width"] <= 390
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    await page.set_viewport_size({"width": 1280, "height": 900})
    await page.get_by_role("button", name="Console link").click()
    await expect(page.get_by_role("timer")).to_contain_text(re.compile(r"valid for \d+:\d\d"))
    url = await page.get_by_label("Link", exact=True).input_value()
    async with new_tab(browser) as partner:
        async with partner.page.expect_response("**/console/session") as signed_in:
            await partner.page.goto(url)
        ends = datetime.fromisoformat((await (await signed_in.value).json())["expires_at"])
        # The link is good for ten minutes, the session for longer.
        assert ends - datetime.now(UTC) > timedelta(minutes=50)
        await partner.page.wait_for_selector("#nav a[aria-current]")


async def wait_a_second(route: Route) -> None:
    await route.continue_(url=route.request.url.replace("wait=25", "wait=1"))


async def test_revoking_a_key_in_one_console_ends_the_session_in_the_other(
    tab: Tab, browser: Browser, system: System
) -> None:
    """The operator has to confirm it; the partner's page ends by itself."""
    issued = await system.issue(name="Leaked")
    async with new_tab(browser) as partner:
        await partner.page.route("**/events?*&wait=25", wait_a_second)
        await open_partner_console(partner, system, issued["key"])
        await partner.show("events")
        await open_operator_console(tab, system)
        await choose(tab, await name_of(system, system.studio_id))
        await tab.show("partners")
        await tab.page.get_by_role("link", name="Leaked").click()
        await tab.page.get_by_role("button", name="Revoke Leaked").click()
        await expect(tab.page.locator("dialog")).to_contain_text("its console sessions end")
        await tab.page.get_by_role("button", name="Revoke it").click()
        await expect(tab.page.locator(".pill", has_text="revoked")).to_be_visible()
        await expect(partner.page.locator("h1")).to_have_text("The session has ended")


async def test_a_file_is_checked_first_and_its_bad_lines_are_shown(tab: Tab, system: System) -> None:
    """Nothing is stored by the check; a good line is imported even if others are bad.

    Lines of another studio are one message, not one for each.
    """
    desk = await front_desk(system)
    place = {"object": "location", "id": new_id(), "name": MARKUP, "timezone": "UTC", "active": True}
    room = {"object": "room", "id": new_id(), "location_id": place["id"], "name": "Loft", "capacity": 4}
    member = {"object": "member", "id": new_id(), "first_name": "X", "last_name": "Y", "email": "wrong"}
    lines = [json.dumps(place | {"is_primary": True}), json.dumps(room), "not json", json.dumps(member)]
    await desk.open(tab, "manager")
    await tab.show("transfer")
    payload = {
        "name": "studio.ndjson",
        "mimeType": "application/x-ndjson",
        "buffer": "\n".join(lines).encode(),
    }
    await tab.page.get_by_label("Choose a file").set_input_files(payload)  # type: ignore[arg-type]
    view = tab.page.locator("#view")
    await expect(view).to_contain_text("4 lines read · 2 good · 2 bad")
    await expect(view).to_contain_text("studio.ndjson → Northlight")
    await expect(view.locator("mark")).to_have_text('"email": "wrong"')
    rooms = f"/studios/{desk.studio_id}/rooms"
    assert len((await desk.api.get(rooms)).json()["data"]) == 1
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name="Download bad lines").click()
    saved = await (await download.value).path()
    assert saved.read_text().splitlines() == [lines[2], lines[3]]
    await tab.page.get_by_role("button", name="Import 2 lines").click()
    await expect(view).to_contain_text("2 imported")
    assert len((await desk.api.get(rooms)).json()["data"]) == 2
    assert await tab.page.evaluate("window.hacked") is None
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name="Export", exact=True).click()
    exported = [json.loads(line) for line in (await (await download.value).path()).read_text().splitlines()]
    assert {room["id"], desk.class_id, desk.members["Ada King"]} <= {line["id"] for line in exported}
    foreign = [member | {"studio_id": system.studio_id, "id": new_id()} for _ in range(19)]
    await tab.show("today")
    await tab.show("transfer")
    await tab.page.get_by_text("Or paste the lines").click()
    await tab.page.get_by_label("Lines").fill("\n".join(map(json.dumps, foreign)))
    await tab.page.get_by_role("button", name="Check them").click()
    problem = tab.page.locator(".problem")
    await expect(problem).to_have_text(re.compile("19 lines belong to a studio that is not Northlight"))
    assert await tab.page.locator(".bad-lines li").count() == 0


async def test_the_team_and_what_it_did(tab: Tab, browser: Browser, system: System) -> None:
    """A token is shown once; what its holder does is told with names, newest first."""
    desk = await front_desk(system)
    await desk.book("Ada King")
    await desk.open(tab, "manager")
    await tab.show("team")
    await tab.page.get_by_role("button", name="New staff token").click()
    await tab.page.get_by_role("dialog").get_by_label("Name").fill("Mira")
    await tab.page.get_by_role("button", name="Issue token").click()
    token = await tab.page.get_by_label("Token of Mira").last.input_value()
    await tab.page.get_by_role("button", name="I have stored it").click()
    async with new_tab(browser) as mira:
        await open_operator_console(mira, system, token)
        await mira.page.get_by_role("button", name="Check in Ada King").click()
        await expect(mira.page.get_by_role("button", name="Undo the check-in of Ada King")).to_be_visible()
    await tab.show("activity")
    await expect(tab.page.locator("st-list a.item").first).to_contain_text("Mira checked in Ada King")
    await tab.page.locator("st-list a.item").first.click()
    await tab.page.locator(".pane .facts").get_by_role("button", name="Ada King", exact=False).first.click()
    await expect(tab.page.locator(".desk-head h1")).to_have_text("Power Yoga")
    await tab.show("activity")
    await tab.page.get_by_label("What", exact=True).select_option(label="Team")
    await expect(tab.page.locator("st-list a.item").first).to_contain_text("issued the staff token Mira")
    await tab.show("team")
    await tab.page.get_by_role("button", name="Revoke the token of Mira").click()
    await tab.page.get_by_role("button", name="Revoke it").click()
    await expect(tab.page.locator(".team li", has_text="Mira")).to_contain_text("revoked")


async def test_a_new_studio_is_chosen_and_its_row_leads_to_its_desk(tab: Tab, system: System) -> None:
    """Rows of *All studios* lead somewhere."""
    await open_operator_console(tab, system)
    await tab.show("studios")
    name = f"Harbour {new_id()[:6]}"
    await tab.page.get_by_role("button", name="New studio").click()
    await tab.page.get_by_role("dialog").get_by_label("Name", exact=True).fill(name)
    await tab.page.get_by_role("button", name="Create studio").click()
    await expect(tab.page.locator("#who")).to_contain_text(name)
    await tab.show("studios")
    wanted = await name_of(system, system.studio_id)
    await tab.page.get_by_role("searchbox", name="Find a studio").fill(wanted)
    await tab.page.get_by_role("link", name=wanted).click()
    await expect(tab.page.locator('#nav a[data-page="today"][aria-current]')).to_be_visible()
    await expect(tab.page.locator("#view")).to_contain_text("Nothing is on today")


async def test_a_page_says_that_it_loads_and_that_it_failed_and_tries_again(tab: Tab, system: System) -> None:
    """A skeleton while nothing is there, then the sentence, the code and a button. Nothing stays blank."""
    await front_desk(system)
    await sign_in(tab, system.running.operator_url, system.running.operator_token, "#/week")
    away = {"error": {"code": "unavailable", "message": "The service is away.", "request_id": new_id()}}
    loading = asyncio.Event()

    async def refuse(route: Route) -> None:
        await loading.wait()
        await route.fulfill(status=503, json=away)

    # All studios are known since the sign-in. Today would go on with what it has shown before.
    pages = [page for page in OPERATOR_PAGES if page not in ("week", "studios")] + ["week"]
    for page in pages:
        loading.clear()
        await tab.page.route("**/operator/v1/**", refuse)
        await tab.page.evaluate("page => { location.hash = `#/${page}`; }", page)
        await expect(tab.page.locator("#view .skeleton").first, page).to_be_visible()
        loading.set()
        problem = tab.page.locator("#view .problem").first
        await expect(problem, page).to_contain_text("The service is away.")
        await tab.page.unroute("**/operator/v1/**", refuse)
        await problem.get_by_role("button", name="Try again").click()
        await expect(tab.page.locator("#view .problem"), page).to_have_count(0)
