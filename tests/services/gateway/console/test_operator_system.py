"""*System*: what fails is red there within ten seconds, though an open page hardly asks."""

from typing import Any

from playwright.async_api import expect

from services.gateway.actions.system_status import version_of
from tests.harness.browser import SHARED_LOOP, Tab
from tests.harness.console_pages import open_operator_console
from tests.harness.front_desk import front_desk
from tests.harness.receiver import answering, receiving
from tests.harness.system import System


@SHARED_LOOP
async def test_a_failing_endpoint_is_red_on_system_within_ten_seconds(tab: Tab, system: System) -> None:
    """The page waits at the server and is told of the change."""
    desk = await front_desk(system)
    partner = system.partner(await system.key(studio=desk.studio_id, client="Widgets"))
    async with receiving() as receiver:
        receiver.response = answering(500, text="no database")
        await partner.create("/webhook-endpoints", {"url": receiver.url, "description": "Widgets CRM"})
        await open_operator_console(tab, system)
        async with tab.page.expect_request("**/status?wait=50&version=*"):
            await tab.show("system")
        await expect(tab.page.locator(".services")).to_be_visible()
        await desk.book("Ada King")
        await receiver.until_count(1)
        # Other tests of this system may have left endpoints that fail: the newest is named first.
        first = tab.page.locator(".failing-list li").first
        await expect(first).to_contain_text("Widgets CRM", timeout=10_000)
        await expect(tab.page.locator(".pipeline li.stops", has_text="Deliveries")).to_contain_text("fail")


def test_a_version_is_another_only_for_what_somebody_acts_on() -> None:
    """An age grows all the time, and would end every wait at once."""

    def version(status: str = "ready", **figures: Any) -> str:
        calm = {"pending_deliveries": 0, "failing_endpoints": [], "outbox_age_seconds": 0.1}
        return version_of(
            {"gateway": {"status": "ready"}, "webhooks": {"status": status, "figures": calm | figures}}
        )

    assert version() == version(outbox_age_seconds=0.9)
    changed = {
        version(),
        version("degraded"),
        version(pending_deliveries=1),
        version(failing_endpoints=[{"id": "a"}]),
    }
    assert len(changed) == 4
