"""The reference page: nothing from outside, nothing inline, nothing from the document read as HTML."""

import re
from html.parser import HTMLParser
from importlib import resources
from typing import Final

from services.gateway.routes.partner_port import OPENAPI

FOLDER: Final = resources.files("services.gateway") / "static" / "docs"
FRAME: Final = (FOLDER / "reference.html").read_text("utf-8")
CONTENT: Final = (FOLDER / "partners.html").read_text("utf-8")
PAGE: Final = FRAME.replace("$document", OPENAPI).replace("$content", CONTENT)
STYLE: Final = (FOLDER / "page.css").read_text("utf-8")
SCRIPTS: Final = sorted(one.name for one in FOLDER.iterdir() if one.name.endswith(".js"))
SCRIPT: Final = "\n".join((FOLDER / name).read_text("utf-8") for name in SCRIPTS)
WHOLE: Final = PAGE + STYLE + SCRIPT
VOID: Final = {"meta", "link", "input", "br", "img", "hr"}


class Outline(HTMLParser):
    """Checks that tags close in order, and keeps what the tests ask about."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("src", "href", "action", "data", "poster", "srcset") and value:
                self.addresses.append(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"


def outline() -> Outline:
    parser = Outline()
    parser.feed(PAGE)
    parser.close()
    return parser


def test_the_page_is_well_formed() -> None:
    """Every tag closes in order, and an id is used once."""
    read = outline()
    assert read.open == []
    assert len(set(read.ids)) == len(read.ids)


def test_nothing_comes_from_outside() -> None:
    """The page works offline: no URL with a host anywhere, including scripts and styles."""
    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", WHOLE) == []
    assert "@import" not in WHOLE
    assert re.findall(r"\burl\(", WHOLE) == []
    allowed = ("#", "/partner/v1/", "/docs/page.", "data:")
    assert all(address.startswith(allowed) for address in outline().addresses)


def test_nothing_in_the_page_is_inline() -> None:
    """The policy allows no inline script or style, so that injected text can be neither."""
    assert "<style" not in PAGE
    assert "style=" not in PAGE
    assert re.findall(r"<script(?! src=)", PAGE) == []
    assert re.findall(r"\son\w+=", PAGE) == []
    assert not re.search(r"\bstyle:|\.style\b|cssText", SCRIPT)


def test_nothing_of_the_document_is_read_as_html() -> None:
    """Descriptions and examples enter as text nodes."""
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert way not in WHOLE


def test_the_page_reads_the_document_that_the_gateway_serves() -> None:
    """The address is the one of decisions.md."""
    assert OPENAPI == "/partner/v1/openapi.json"
    assert f'<html lang="en" data-document="{OPENAPI}">' in PAGE
    assert "document.documentElement.dataset.document" in SCRIPT


def test_the_guide_comes_before_the_reference() -> None:
    """What every partner needs is explained at the top."""
    ids = outline().ids
    guide = ["authentication", "errors", "pagination", "idempotency", "limits", "webhooks", "mirroring"]
    guide += ["versioning", "changelog"]
    assert [one for one in ids if one in guide] == guide
    assert ids.index("changelog") < ids.index("reference")


def test_it_can_be_used_without_a_mouse() -> None:
    """A skip link, landmarks, labels and a visible focus."""
    assert 'class="skip"' in PAGE
    assert ":focus-visible" in STYLE
    assert {"main", "nav", "aside", "noscript"} <= set(outline().tags)
