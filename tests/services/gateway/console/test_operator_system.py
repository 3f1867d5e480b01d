"""*System*: what fails is red there within ten seconds, though an open page hardly asks."""

from playwright.async_api import expect

from tests.harness.browser import SHARED_LOOP, Tab
from tests.harness.console_pages import open_operator_console
from tests.harness.front_desk import front_desk
from tests.harness.receiver import answering, receiving
from tests.harness.system import System


@SHARED_LOOP
async def test_a_failing_endpoint_is_red_on_system_within_ten_seconds(tab: Tab, system: System) -> None:
    """The page waits at the server and is told of the change. While all is well it fits one screen."""
    desk = await front_desk(system)
    partner = system.partner(await system.key(studio=desk.studio_id, client="Widgets"))
    async with receiving() as receiver:
        receiver.response = answering(500, text="no database")
        await partner.create("/webhook-endpoints", {"url": receiver.url, "description": "Widgets CRM"})
        await open_operator_console(tab, system)
        async with tab.page.expect_request("**/status?wait=50&version=*"):
            await tab.show("system")
        await tab.page.set_viewport_size({"width": 1440, "height": 900})
        await expect(tab.page.locator(".service")).to_have_count(5)
        await expect(tab.page.get_by_role("list", name="Event pipeline").locator("li")).to_have_count(4)
        await expect(tab.page.locator(".checks summary")).to_contain_text("checks passed")
        box = await tab.page.locator(".system").bounding_box()
        assert box and box["y"] + box["height"] <= 900
        await desk.book("Ada King")
        await receiver.until_count(1)
        # Other tests of this system may have left endpoints that fail: the newest is named first.
        first = tab.page.locator(".failing-list li").first
        await expect(first).to_contain_text("Widgets CRM", timeout=10_000)
        await expect(tab.page.locator(".pipeline li.stops", has_text="Deliveries")).to_contain_text("fail")
