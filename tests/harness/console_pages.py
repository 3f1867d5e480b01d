"""The consoles as a person uses them: signing in, and a studio with something on every page."""

from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.async_api import Locator, expect

from tests.harness.bookable_studio import Bookable, bookable
from tests.harness.browser import Tab
from tests.harness.http import created
from tests.harness.system import System

PARTNER_PAGES = ("home", "requests", "events", "webhooks", "schedule", "settings")
STAFF_PAGES = ("today", "week", "members")
MANAGER_PAGES = (*STAFF_PAGES, "partners", "deliveries", "transfer", "team", "activity")
OPERATOR_PAGES = (*MANAGER_PAGES, "system", "studios", "audit")


async def open_partner_console(tab: Tab, system: System, key: str, **body: Any) -> str:
    """Signs in by a fresh link, which is returned."""
    url = str((await system.partner(key).create("/console-sessions", body))["url"])
    await tab.page.goto(url)
    await tab.page.wait_for_selector("#nav a[aria-current]")
    return url


async def open_operator_console(tab: Tab, system: System, token: str | None = None) -> None:
    await sign_in(tab, system.running.operator_url, token or system.running.operator_token)


async def sign_in(tab: Tab, operator_url: str, token: str, page: str = "") -> None:
    await tab.page.goto(f"{operator_url}/console{page}")
    await tab.page.get_by_label("Token").fill(token)
    await tab.page.get_by_role("button", name="Sign in").click()
    await tab.page.wait_for_selector("#nav a[aria-current]")


async def class_of_today(system: System, *, title: str = "Flow", name: str = "Ada") -> Bookable:
    """A class within this week that can be booked, and a member with this first name."""
    made = bookable(seats=5)
    start = datetime.now(UTC) + timedelta(minutes=10)
    for line in made.lines:
        if line["object"] == "class":
            line |= {"title": title, "start_time": start.isoformat()}
            line["end_time"] = (start + timedelta(hours=1)).isoformat()
        if line["object"] == "member":
            line["first_name"] = name
    await system.import_lines(made.lines)
    return made


async def scheduled(tab: Tab, title: str) -> Locator:
    """The class on the partner console's schedule, in this week or, late on Sunday, in the next one."""
    await expect(tab.page.locator("st-calendar")).to_be_visible()
    block = tab.page.locator("a.block", has_text=title)
    if not await block.count():
        await tab.page.get_by_role("button", name="Later").click()
    await expect(block).to_be_visible()
    return block


async def book(system: System, key: str, made: Bookable) -> str:
    return str(created(await system.partner(key).book(made.class_ids[0], made.member_ids[0]))["id"])
