"""The partner console: what a link gives, and what other sites and stored text cannot do."""

import re

from aiohttp import web
from playwright.async_api import Browser, expect

from tests.harness.browser import SHARED_LOOP, Tab, new_tab
from tests.harness.console_pages import PARTNER_PAGES, book, class_of_today, open_partner_console, scheduled
from tests.harness.receiver import answering, receiving
from tests.harness.system import System

pytestmark = SHARED_LOOP

MARKUP = '<img src=x onerror="window.hacked=1"><b class=injected>x</b>'
# What is read on a page outside of chips, payloads and code, in every element.
SEEN_TEXT = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node; (node = walker.nextNode());) {
    if (!node.parentElement.closest('.chip, .json, pre, script, noscript')) found.push(node.data);
  }
  return found.join('\\n');
}"""
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
STORED = "() => JSON.stringify([location.href, document.cookie, {...localStorage}, {...sessionStorage}])"
# What a hostile page tries: with the header, without it, and with a form.
ATTACK = """async (target) => {
  const said = [];
  const json = {"X-Studio-Console": "1", "Content-Type": "application/json"};
  for (const headers of [json, {"Content-Type": "text/plain"}]) {
    const body = '{"url":"https://evil.example/"}';
    try {
      const answer = await fetch(target, {method: "POST", credentials: "include", headers, body});
      said.push(answer.status);
    } catch { said.push("blocked"); }
  }
  return said;
}"""


async def test_a_link_signs_in_once_and_leaves_no_secret_behind(
    tab: Tab, browser: Browser, system: System
) -> None:
    """The token leaves the address bar at once, scripts cannot read the cookie, a second use is refused."""
    issued = await system.issue()
    url = await open_partner_console(tab, system, issued["key"])
    token = url.partition("#token=")[2]
    await expect(tab.page.locator("h1")).to_have_text("Home")
    stored = await tab.page.evaluate(STORED)
    assert "stc_" not in stored and issued["key"] not in stored
    assert token not in tab.page.url
    (cookie,) = await tab.page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("studio_console", True, "Strict")
    assert (await tab.page.evaluate("history.length")) <= 2
    async with new_tab(browser) as other:
        await other.page.goto(url)
        await expect(other.page.locator("h1")).to_have_text("Not signed in")
        await expect(other.page.locator(".problem")).to_contain_text("console_link_invalid")
        other.check()
    log = system.running.log_text()
    assert token[-40:] not in log and cookie["value"][-40:] not in log


async def _empty_page(_: web.Request) -> web.StreamResponse:
    return web.Response(text="<p>hello", content_type="text/html")


async def test_another_site_cannot_act_in_the_session(tab: Tab, system: System) -> None:
    """A page on another host in the same browser: nothing that it sends has an effect."""
    key = await system.key()
    await open_partner_console(tab, system, key)
    hostile = web.Application()
    hostile.router.add_get("/", _empty_page)
    runner = web.AppRunner(hostile, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    target = f"{system.running.partner_url}/partner/v1/webhook-endpoints"
    try:
        port = runner.addresses[0][1]
        for host in ("localhost", "127.0.0.1"):
            page = await tab.page.context.new_page()
            await page.goto(f"http://{host}:{port}/")
            said = await page.evaluate(ATTACK, target)
            assert said == ["blocked", "blocked"], host
            await page.evaluate(
                """(target) => { const form = document.createElement("form");
                form.method = "POST"; form.action = target; document.body.append(form); form.submit(); }""",
                target,
            )
            await page.wait_for_url(target)
            assert "missing_api_key" in await page.content()
            await page.close()
    finally:
        await runner.cleanup()
    assert (await system.partner(key).get("/webhook-endpoints")).json()["data"] == []


async def test_every_page_shows_names_and_stored_markup_as_text(tab: Tab, system: System) -> None:
    """Titles, notes, webhook addresses and answers of receivers, too. Ids are in chips and payloads only."""
    studio = await system.new_studio(name=MARKUP)
    system.studio_id = studio
    issued = await system.issue(name=MARKUP, client=MARKUP)
    made = await class_of_today(system, title=MARKUP, name=MARKUP)
    async with receiving() as receiver:
        receiver.response = answering(200, text=MARKUP)
        body = {
            "url": f"{receiver.url}?q='onerror=alert(1)",
            "description": MARKUP,
            "event_types": ["booking.created"],
        }
        client = system.partner(issued["key"])
        endpoint = (await client.post("/webhook-endpoints", body)).json()
        await book(system, issued["key"], made)
        await client.until(f"/webhook-endpoints/{endpoint['id']}/deliveries", status="succeeded")
    await open_partner_console(tab, system, issued["key"])
    for page in PARTNER_PAGES:
        await tab.show(page)
        if page == "schedule":
            await (await scheduled(tab, "<img src=x")).click()
            await expect(tab.page.locator(".pane", has_text="Roster")).to_contain_text("<img src=x")
        if page == "webhooks":
            await tab.page.locator(".endpoint h2 a").click()
        if page in ("requests", "events", "webhooks"):
            await tab.page.locator("a.item").first.click()
        if page == "webhooks":
            await expect(tab.page.locator(".pane pre", has_text="<img src=x")).to_be_visible()
        await expect(tab.page.locator(".skeleton")).to_have_count(0)
        assert await tab.page.locator("#view img, #view .injected, #who img").count() == 0, page
        text = await tab.page.evaluate(SEEN_TEXT)
        assert UUID.search(text) is None, (page, text)
    assert endpoint["description"] == MARKUP
    assert await tab.page.evaluate("window.hacked") is None


async def test_a_session_sees_only_what_its_scopes_allow(tab: Tab, system: System) -> None:
    """Pages of other scopes say which one is missing."""
    await open_partner_console(tab, system, await system.key(), scopes=["studio:read"])
    for page, scope in (
        ("schedule", "schedule:read"),
        ("webhooks", "webhooks:read"),
        ("events", "webhooks:read"),
    ):
        await tab.show(page)
        await expect(tab.page.locator("#view")).to_contain_text(f"lacks the scope {scope}")
