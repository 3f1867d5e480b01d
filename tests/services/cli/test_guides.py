"""The reference page and its guides: nothing from outside, and what docs/ and the changelog say.

tests/services/gateway/reference drives it in a browser, under the gateway's policy.
"""

import json
import re
from importlib import resources
from typing import Any, Final

import pytest

from services.cli.openapi.guides import GUIDES, ROOT, changelog, guides

MADE: dict[str, Any] = json.loads(json.dumps(guides()))


def texts(value: Any) -> list[str]:
    """Every string in it."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in texts(one)]


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_is_its_page(name: str) -> None:
    """Every word and every program of it; only the markup is gone."""
    page = (ROOT / GUIDES[name]).read_text("utf-8")
    shown = texts(MADE[name])
    for program in re.findall(r"```\w+\n(.*?)\n```", page, re.DOTALL):
        assert program in shown
    without_markup = re.sub(r"```\w+|\]\(.*?\)|^\d+\. ", "", page, flags=re.MULTILINE)
    words = re.findall(r"\w+", without_markup)
    told = set(re.findall(r"\w+", " ".join(shown)))
    assert [word for word in words if word not in told] == []


def test_a_link_between_guides_stays_in_the_reference() -> None:
    """A file's name would lead nowhere."""
    links = [link for text in texts(MADE) for link in re.findall(r"\]\(([^)]*)\)", text)]
    assert "#mirroring" in links
    assert all(link.startswith(("https://", "#")) for link in links)


def test_the_changelog_contains_what_concerns_partners() -> None:
    """Deployments, commands and inner repairs are left out, and so is a version with nothing else."""
    assert MADE["changelog"]["sections"][-1]["title"] == "1.0.0-rc"
    shown = " ".join(texts(MADE["changelog"]))
    assert "`GET /event-types`" in shown
    assert not re.search(r"studioctl|Helm|Kubernetes|Postgres|make \w+|STUDIO_", shown)
    made = changelog("# C\n\n## [2]\n\n### Added\n- a\n\n## [1]\n\n### Partner API\n- b\n\n### Fixed\n- c\n")
    assert [section["title"] for section in made["sections"]] == ["1"]
    assert texts(made["sections"][0]["blocks"]) == ["list", "paragraph", "b"]


FOLDER: Final = resources.files("services.gateway") / "static" / "docs"
FILES: Final = {one.name: one.read_text("utf-8") for one in FOLDER.iterdir() if one.is_file()}
PAGES: Final = "".join(text for name, text in FILES.items() if name.endswith(".html"))
SCRIPT: Final = "".join(text for name, text in FILES.items() if name.endswith(".js"))
WHOLE: Final = "".join(FILES.values())


def test_nothing_is_from_outside_inline_or_read_as_html() -> None:
    """The page works offline, injected text can be no script, and descriptions enter as text nodes."""
    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+|@import|\burl\(", WHOLE) == []
    assert re.findall(r"<style|style=|<script(?! src=)|\son\w+=", PAGES) == []
    assert re.findall(r"\bstyle:|\.style\b|cssText", SCRIPT) == []
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert way not in WHOLE
