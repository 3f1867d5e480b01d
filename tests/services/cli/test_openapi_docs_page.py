"""The reference page: nothing from outside, nothing inline, nothing from the document read as HTML.

tests/services/gateway/reference drives it in a browser, under the gateway's policy.
"""

import re
from importlib import resources
from typing import Final

FOLDER: Final = resources.files("services.gateway") / "static" / "docs"
FILES: Final = {one.name: one.read_text("utf-8") for one in FOLDER.iterdir() if one.is_file()}
PAGES: Final = "".join(text for name, text in FILES.items() if name.endswith(".html"))
SCRIPT: Final = "".join(text for name, text in FILES.items() if name.endswith(".js"))
WHOLE: Final = "".join(FILES.values())


def test_nothing_comes_from_outside() -> None:
    """The page works offline: no URL with a host anywhere, including scripts and styles."""
    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", WHOLE) == []
    assert "@import" not in WHOLE
    assert re.findall(r"\burl\(", WHOLE) == []


def test_nothing_in_the_page_is_inline() -> None:
    """The policy allows no inline script or style, so that injected text can be neither."""
    assert "<style" not in PAGES and "style=" not in PAGES
    assert re.findall(r"<script(?! src=)", PAGES) == []
    assert re.findall(r"\son\w+=", PAGES) == []
    assert not re.search(r"\bstyle:|\.style\b|cssText", SCRIPT)


def test_nothing_of_the_document_is_read_as_html() -> None:
    """Descriptions and examples enter as text nodes."""
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert way not in WHOLE
