"""axe-core on a page in the browser."""

from importlib import resources
from typing import Any

from tests.harness.browser import Tab

AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
DESKTOP, PHONE = (1280, 900), (390, 844)
# Colours alone differ between light and dark, so the dark pages are measured for contrast.
EVERYTHING: dict[str, Any] = {"resultTypes": ["violations"]}
CONTRAST: dict[str, Any] = EVERYTHING | {"runOnly": ["color-contrast"]}


async def check_widths(tab: Tab, part: str = "html") -> list[str]:
    """What is wrong on a desktop and on a phone. Dark colours are the same on both, so measured once."""
    found = []
    for (width, height), schemes in ((DESKTOP, ("light",)), (PHONE, ("dark", "light"))):
        await tab.page.set_viewport_size({"width": width, "height": height})
        if await tab.page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"wider than {width}")
        for scheme in schemes:
            await use_scheme(tab, scheme)
            problems = await violations(tab, CONTRAST if scheme == "dark" else EVERYTHING, part)
            found += [f"{width}, {scheme}: {problem}" for problem in problems]
    return found


async def use_scheme(tab: Tab, scheme: str) -> None:
    await tab.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    await tab.page.wait_for_selector(f'html[data-theme="{scheme}"]')


async def violations(tab: Tab, options: dict[str, Any], part: str = "html") -> list[str]:
    found = await tab.page.evaluate("([part, options]) => axe.run(part, options)", [part, options])
    return [f"{one['id']}: {[node['target'] for node in one['nodes']][:3]}" for one in found["violations"]]
