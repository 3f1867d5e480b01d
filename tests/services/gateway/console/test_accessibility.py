"""axe-core finds nothing on any page, light and dark, on a desktop and on a phone."""

from collections.abc import Sequence
from typing import Any

from tests.harness.browser import (
    AXE,
    CONTRAST,
    DESKTOP,
    EVERYTHING,
    PHONE,
    SHARED_LOOP,
    Tab,
    use_scheme,
    violations,
)
from tests.harness.console_pages import (
    MANAGER_PAGES,
    OPERATOR_PAGES,
    PARTNER_PAGES,
    book,
    class_of_today,
    open_operator_console,
    open_partner_console,
)
from tests.harness.front_desk import front_desk
from tests.harness.system import System

pytestmark = SHARED_LOOP

Rules = dict[tuple[tuple[int, int], str], dict[str, Any]]
# Every page under every rule, light on a desktop and dark on a phone.
RULES: Rules = {(DESKTOP, "light"): EVERYTHING, (PHONE, "dark"): EVERYTHING}
# Of pages without data, in the soak. The desktop is last, because whoever signs in next looks for the rail.
REST: Rules = {(PHONE, "light"): EVERYTHING, (DESKTOP, "dark"): CONTRAST}

# The rows of a table and the studios to choose from are alike, and axe takes long for hundreds of them.
FEW_ROWS = """document.querySelectorAll('tbody tr:nth-child(n+6):not(:has(th)), option:nth-child(n+6)')
.forEach(e => e.remove())"""


async def check_pages(tab: Tab, pages: Sequence[str], rules: Rules = RULES) -> None:
    await tab.page.evaluate(AXE)
    for page in pages:
        await tab.page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
        await tab.show(page)
        await tab.page.evaluate(FEW_ROWS)
        for (size, scheme), options in rules.items():
            await tab.page.set_viewport_size({"width": size[0], "height": size[1]})
            assert await tab.page.evaluate("document.documentElement.scrollWidth") <= size[0], page
            await use_scheme(tab, scheme)
            assert await violations(tab, options) == [], (page, size, scheme)


async def test_the_partner_console_passes_axe(tab: Tab, system: System) -> None:
    """With a class, an event, an endpoint and a request to show. A picture without words would be found."""
    key = await system.key()
    await book(system, key, await class_of_today(system))
    await system.partner(key).post("/webhook-endpoints", {"url": "https://example.com/hook"})
    await open_partner_console(tab, system, key)
    await check_pages(tab, PARTNER_PAGES)
    await tab.page.evaluate("document.querySelector('#view').append(document.createElement('img'))")
    assert [one.partition(":")[0] for one in await violations(tab, EVERYTHING)] == ["image-alt"]


async def test_the_operators_console_passes_axe(tab: Tab, system: System) -> None:
    """The operators' own pages; the desk's test has the others."""
    await system.issue()
    await open_operator_console(tab, system)
    await check_pages(tab, [page for page in OPERATOR_PAGES if page not in MANAGER_PAGES])


async def test_the_desk_passes_axe_with_a_class_and_its_sheets(tab: Tab, system: System) -> None:
    """Somebody is in, somebody waits, somebody cancelled late; the walk-in, the new class, the new key."""
    desk = await front_desk(system, seats=2)
    ada, *_ = await desk.book("Ada King", "Bo Okafor", "Cleo Larsen", "Dana Moreau")
    await desk.api.post(f"/studios/{desk.studio_id}/bookings/{ada}/cancel", {})
    await desk.open(tab, "manager")
    await tab.page.get_by_role("button", name="Check in Bo Okafor").click()
    await check_pages(tab, MANAGER_PAGES)
    await tab.page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    for page, button in (("today", "Walk-in"), ("week", "New class"), ("partners", "New partner")):
        await tab.show(page)
        await tab.page.get_by_role("button", name=button).click()
        await tab.page.wait_for_timeout(300)  # the sheet slides in
        assert await violations(tab, EVERYTHING) == [], page
        await tab.page.keyboard.press("Escape")
    await tab.show("week")
    await tab.page.locator(".block").first.click()
    assert await violations(tab, EVERYTHING) == []
    await tab.page.keyboard.press("Control+k")
    await tab.page.get_by_role("option", name="Today").wait_for()
    assert await violations(tab, EVERYTHING) == [], "the palette above a page that is not inert"
