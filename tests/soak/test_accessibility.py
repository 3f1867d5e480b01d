"""axe-core on the whole of both references, with everything opened, and on what the suite leaves out."""

import time

import pytest

from tests.harness.browser import AXE, EVERYTHING, SHARED_LOOP, Tab, check_widths, violations
from tests.harness.console_pages import (
    OPERATOR_PAGES,
    PARTNER_PAGES,
    open_operator_console,
    open_partner_console,
)
from tests.harness.system import RunningSystem, System
from tests.services.gateway.console.conftest import system
from tests.services.gateway.console.test_accessibility import REST, check_pages

__all__ = ["system"]

pytestmark = SHARED_LOOP

# Opening a box draws what is in it, which may be more boxes.
OPEN_EVERYTHING = """async () => {
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    for (let level = 0; level < 6; level += 1) {
        for (const box of document.querySelectorAll("details:not([open])")) box.open = true;
        await drawn();
    }
}"""
# axe's time grows faster than the page: it sees the guides first, then a few operations at a time.
CARDS = 4
SPLIT = """() => {
    window.cards = [...document.querySelectorAll("#reference .op")];
    document.getElementById("reference").replaceChildren();
    return window.cards.map((card) => card.id);
}"""
SHOW = """([from, to]) => {
    const group = document.createElement("section");
    const title = document.createElement("h2");
    title.textContent = "Operations";
    group.className = "group";
    group.append(title, ...window.cards.slice(from, to));
    document.getElementById("reference").replaceChildren(group);
}"""
# A positive control: the last of these operations gets a picture without a text.
PLANT = "document.querySelector('#reference .op:last-child').append(document.createElement('img'))"


@pytest.mark.parametrize("reference", ["partners", "operators"])
async def test_a_whole_reference_passes_axe(tab: Tab, running_system: RunningSystem, reference: str) -> None:
    """Light on both widths; dark colours are the same on both, so they are measured on a phone."""
    page = tab.page
    page.set_default_timeout(600_000)
    origin = running_system.partner_url if reference == "partners" else running_system.operator_url
    await page.goto(f"{origin}/docs")
    await page.wait_for_selector(".op")
    await page.evaluate(OPEN_EVERYTHING)
    assert await page.locator(".op details:not(:has(> :nth-child(2)))").count() == 0, "a box is empty"
    await page.evaluate(AXE)
    names = await page.evaluate(SPLIT)
    started, found = time.monotonic(), list[str]()
    for first in range(-CARDS, len(names), CARDS):
        shown = names[first : first + CARDS] if first >= 0 else ["the guides"]
        if first >= 0:
            await page.evaluate(SHOW, [first, first + CARDS])
            assert await page.locator(".op").count() == len(shown)
        problems = await check_widths(tab, "html" if first < 0 else "#reference")
        found += [f"{shown}, {problem}" for problem in problems]
    print(f"axe: {len(names)} operations and events in {time.monotonic() - started:.0f} s")
    assert found == []
    await page.evaluate(PLANT)
    assert any(problem.startswith("image-alt") for problem in await violations(tab, EVERYTHING, "#reference"))


@pytest.mark.timeout(1200)
async def test_the_consoles_without_data_pass_axe(tab: Tab, system: System) -> None:
    """In the combinations that the suite leaves out: light on a phone; dark on a desktop, for contrast."""
    await open_partner_console(tab, system, await system.key())
    await check_pages(tab, PARTNER_PAGES, REST)
    await open_operator_console(tab, system)
    await check_pages(tab, OPERATOR_PAGES, REST)
