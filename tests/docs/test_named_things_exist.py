"""What README and docs name exists: files, headings, `make` targets, `studioctl` commands and options."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.cli.main import application

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"])
FOLDERS = ("services", "shared", "tests", "bench", "deploy", "docs", "clients", "examples", ".ci")
GENERATED = {"bench/results"}
CODE = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./<>-]*[\w>]")
LINK = re.compile(r"\]\(([^)\s]+)\)")
MAKE = re.compile(r"(?<![\w-])make ((?:[a-z][a-z-]*\b(?![=/]))+)")
STUDIOCTL = re.compile(r"(?<![\w-])studioctl ((?:\\\n|[^\n`|#…;&<)])*)")


def code_of(page: Path) -> Iterator[str]:
    for block, inline in CODE.findall(page.read_text()):
        yield block or inline


def heading_anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missing_paths(page: Path) -> list[str]:
    named = {path for code in code_of(page) for path in PATH.findall(code)} - GENERATED
    return sorted(path for path in named if not list(ROOT.glob(re.sub(r"<\w+>", "*", path))))


def broken_links(page: Path) -> list[str]:
    broken = []
    for link in LINK.findall(page.read_text()):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in heading_anchors(target)):
            broken.append(link)
    return broken


def unknown_targets(page: Path) -> list[str]:
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    return sorted({name for code in code_of(page) for name in MAKE.findall(code)} - known)


def unknown_commands(page: Path) -> list[str]:
    lines = (line for code in code_of(page) for line in STUDIOCTL.findall(code))
    return [line for line in lines if not is_command(shlex.split(line.replace("\\\n", " "), posix=True))]


def is_command(words: list[str]) -> bool:
    """Every word that chooses a command is one, and every option belongs to the command."""
    current: Any = application()
    while words and words[0] in getattr(current, "commands", {}):
        current, words = current.commands[words[0]], words[1:]
    if hasattr(current, "commands") and words and not words[0].startswith("-"):
        return False
    options = {name for one in current.params for name in (*one.opts, *one.secondary_opts)} | {"--help"}
    return all(word.partition("=")[0] in options for word in words if word.startswith("--"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_link_target_and_command_that_a_page_names_exists(page: Path) -> None:
    """A reader can follow each of them; a rename must reach the docs too."""
    found = {
        "paths": missing_paths(page),
        "links": broken_links(page),
        "make": unknown_targets(page),
        "studioctl": unknown_commands(page),
    }
    assert found == {"paths": [], "links": [], "make": [], "studioctl": []}


def test_what_does_not_exist_is_found(tmp_path: Path) -> None:
    """The check itself can fail."""
    page = tmp_path / "page.md"
    page.write_text(
        "`services/nothing.py` [gone](gone.md) `make everything` `studioctl keys invent` "
        "`studioctl keys list --colour`\n"
    )
    assert missing_paths(page) == ["services/nothing.py"]
    assert broken_links(page) == ["gone.md"]
    assert unknown_targets(page) == ["everything"]
    assert unknown_commands(page) == ["keys invent", "keys list --colour"]
