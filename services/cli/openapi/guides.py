"""The guides of the reference, from the pages in docs/ and the changelog, as blocks that the page draws.

There is no second copy of a text: the page shows what `--write` makes of the files, and `--check` compares.
"""

import re
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

import services

Json = dict[str, Any]

ROOT: Final = Path(services.__path__[0]).parent
GUIDES: Final = {
    "errors": "docs/errors.md",
    "flows": "docs/booking-flows.md",
    "webhooks": "docs/receiving-webhooks.md",
    "mirroring": "docs/mirroring.md",
}
CHANGELOG: Final = "CHANGELOG.md"
# Only these entries of a version are for partners.
FOR_PARTNERS: Final = "Partner API"
_LINK: Final = re.compile(r"\]\(([^)]+)\)")
_PLACES: Final = {Path(file).name: f"#{name}" for name, file in GUIDES.items()}


def guides() -> Json:
    made = {name: guide(name, (ROOT / file).read_text("utf-8")) for name, file in GUIDES.items()}
    made["changelog"] = changelog((ROOT / CHANGELOG).read_text("utf-8"))
    return made


def guide(name: str, text: str) -> Json:
    """The text before the first section, and the sections."""
    made: Json = {"title": "", "intro": [], "sections": []}
    blocks = made["intro"]
    for block in blocks_of(text):
        if block["kind"] == "heading" and block["level"] == 1:
            made["title"] = block["text"]
        elif block["kind"] == "heading" and block["level"] == 2:
            blocks = []
            section_id = f"{name}-{re.sub(r'[^a-z0-9]+', '-', block['text'].lower()).strip('-')}"
            made["sections"].append({"id": section_id, "title": block["text"], "blocks": blocks})
        else:
            blocks.append(block)
    return made


def changelog(text: str) -> Json:
    """Each version with what changed for partners."""
    made = guide("changelog", text)
    made["intro"] = []
    for section in made["sections"]:
        section["title"] = section["title"].strip("[]")
        section["blocks"] = _for_partners(section["blocks"])
    made["sections"] = [section for section in made["sections"] if section["blocks"]]
    return made


def _for_partners(blocks: list[Json]) -> list[Json]:
    kept: list[Json] = []
    under = ""
    for block in blocks:
        if block["kind"] == "heading":
            under = block["text"]
        elif under == FOR_PARTNERS:
            kept.append(block)
    return kept


def blocks_of(text: str) -> list[Json]:
    tree = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text))
    return [_block(node) for node in tree.children]


def _block(node: SyntaxTreeNode) -> Json:
    match node.type:
        case "heading":
            return {"kind": "heading", "level": int(node.tag[1:]), "text": _inline(node)}
        case "paragraph":
            return {"kind": "paragraph", "text": _inline(node)}
        case "fence":
            return {"kind": "code", "language": node.info, "text": node.content.rstrip("\n")}
        case "bullet_list" | "ordered_list":
            items = [[_block(child) for child in item.children] for item in node.children]
            return {"kind": "list", "ordered": node.type == "ordered_list", "items": items}
        case "table":
            rows = [
                [_inline(cell) for cell in row.children] for part in node.children for row in part.children
            ]
            return {"kind": "table", "head": rows[0], "rows": rows[1:]}
    raise ValueError(f"The reference cannot show {node.type} (line {node.map}).")


def _inline(node: SyntaxTreeNode) -> str:
    """The source, which the page draws. A link to another guide leads to it, any other file is only named."""
    source = " ".join(child.content.replace("\n", " ") for child in node.children)
    return _LINK.sub(lambda found: f"]({_place(found[1])})", source)


def _place(address: str) -> str:
    return address if address.startswith("http") else _PLACES.get(Path(address.partition("#")[0]).name, "")
