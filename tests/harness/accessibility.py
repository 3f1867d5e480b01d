"""axe-core on a page in the browser."""

from importlib import resources
from typing import Any

from tests.harness.browser import Tab

AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
DESKTOP, PHONE = (1280, 900), (390, 844)
# Colours alone differ between light and dark, so the dark pages are measured for contrast.
EVERYTHING: dict[str, Any] = {"resultTypes": ["violations"]}
CONTRAST: dict[str, Any] = EVERYTHING | {"runOnly": ["color-contrast"]}


async def violations(tab: Tab, options: dict[str, Any], part: str = "html") -> list[str]:
    found = await tab.page.evaluate("([part, options]) => axe.run(part, options)", [part, options])
    return [f"{one['id']}: {[node['target'] for node in one['nodes']][:3]}" for one in found["violations"]]
