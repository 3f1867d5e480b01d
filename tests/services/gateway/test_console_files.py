"""The consoles' files: served with a strict policy, nothing from outside, nothing read as HTML."""

import re
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

import pytest

from tests.harness.system import System

CONSOLE: Final = resources.files("services.gateway") / "static" / "console"
PAGE: Final = "console.html"
MAX_LINES: Final = 200


def sources(folder: Traversable = CONSOLE, below: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for item in folder.iterdir():
        if item.is_dir():
            found |= sources(item, f"{below}{item.name}/")
        else:
            found[below + item.name] = item.read_text("utf-8")
    return found


SOURCES: Final = sources()


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_a_file_reads_nothing_as_html_and_nothing_from_outside(name: str) -> None:
    """What people typed is inserted as text, and the pages work offline."""
    text = SOURCES[name]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert way not in text
    named = re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text)
    assert set(named) <= {"http://www.w3.org"}
    assert "@import" not in text and not re.findall(r"\burl\(", text)
    assert len(text.splitlines()) <= MAX_LINES


def test_no_script_keeps_anything_in_the_browser() -> None:
    """Neither a token nor anything else: scripts cannot read the cookie, and storage is not used."""
    for name, text in SOURCES.items():
        for way in ("localStorage", "sessionStorage", "document.cookie", "indexedDB"):
            assert way not in text, name


def test_nothing_in_the_pages_is_inline() -> None:
    """The policy would refuse it."""
    text = SOURCES[PAGE]
    assert "<style" not in text and "style=" not in text
    assert re.findall(r"<script(?! type=\"module\" src=)", text) == []
    assert re.findall(r"\son\w+=", text) == []


def test_what_a_module_imports_exists() -> None:
    """A module that is missing would leave the page empty."""
    for name, text in SOURCES.items():
        for target in re.findall(r'from "(\./|\.\./)([\w./-]+)"', text):
            folder = name.rpartition("/")[0]
            path = f"{folder}/{target[1]}" if target[0] == "./" and folder else target[1]
            assert path in SOURCES, (name, target)


@pytest.mark.parametrize("port", ["partner", "operator"])
async def test_every_file_is_served_with_the_policy(system: System, port: str) -> None:
    """On both ports; a name that is not a file of the console is 404."""
    running = system.running
    site = system.client(running.partner_url if port == "partner" else running.operator_url, {})
    names = [name for name in SOURCES if name.endswith((".js", ".css"))]
    for path in ("/console", *(f"/console/{name}" for name in names)):
        answer = await site.get(path)
        assert answer.status == 200, path
        policy = answer.headers["Content-Security-Policy"]
        assert (
            "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        )
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    module, title = (
        ("partner.js", "Studio console") if port == "partner" else ("operators.js", "Operators' console")
    )
    page = (await site.get("/console")).body.decode()
    assert f'src="/console/{module}"' in page and f"<title>{title}</title>" in page and "$" not in page
    for path in ("/console/console.html", "/console/../settings.py", "/console/nothing.js"):
        assert (await site.get(path)).status == 404
    assert (await site.post("/console", {})).status == 405
