"""Jobs of the consoles that no test of the suite does."""

from playwright.async_api import expect

from tests.harness.browser import SHARED_LOOP, Tab
from tests.harness.console_pages import open_partner_console
from tests.harness.front_desk import front_desk
from tests.harness.system import System
from tests.services.gateway.console.conftest import system

pytestmark = SHARED_LOOP
__all__ = ["system"]


async def test_home_sends_a_partners_first_request(tab: Tab, system: System) -> None:
    await open_partner_console(tab, system, await system.key())
    # Making the link was the first request: its step is folded.
    await tab.page.get_by_role("button", name="Send the first request").click()
    await tab.page.get_by_role("button", name="Run", exact=True).click()
    await expect(tab.page.locator("[role=status]", has_text="200 in")).to_be_visible()


async def test_a_class_is_cancelled_on_today(tab: Tab, system: System) -> None:
    desk = await front_desk(system)
    await desk.open(tab, "manager")
    await tab.page.get_by_label("More for this class").click()
    await tab.page.get_by_role("button", name="Cancel class…").click()
    await tab.page.get_by_role("button", name="Cancel class", exact=True).last.click()
    await expect(tab.page.locator(".desk-head")).to_contain_text("cancelled")
