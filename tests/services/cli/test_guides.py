"""The guides of the reference: what docs/ and the changelog say, in a form that the page can draw."""

import json
import re
from typing import Any

import pytest

from services.cli.openapi.guides import GUIDES, ROOT, blocks_of, changelog, guides

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


def test_what_the_page_cannot_draw_is_refused() -> None:
    """Instead of being left out of the reference in silence."""
    with pytest.raises(ValueError, match="cannot show blockquote"):
        blocks_of("> quoted")
