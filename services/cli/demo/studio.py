"""The demo studio's fixed lines, which are the same on every machine and every day.

They are in studio.ndjson, an import file in which `@kind/name` stands for the id of that resource.
"""

import re
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec

Line = dict[str, Any]

NAMESPACE: Final = UUID("6f0d7c0e-5f3c-5b0a-9a3e-7d4a3f9c2b11")


def demo_id(kind: str, name: str) -> str:
    return str(uuid5(NAMESPACE, f"{kind}/{name}"))


STUDIO_ID: Final = demo_id("studio", "demo")


def line(kind: str, name: str, /, **fields: object) -> Line:
    return {"object": kind, "id": demo_id(kind, name), "studio_id": STUDIO_ID, **fields}


def _fixed_lines() -> list[Line]:
    text = Path(__file__).with_suffix(".ndjson").read_text("utf-8")
    with_ids = re.sub(r'"@([^"]+)"', lambda found: f'"{uuid5(NAMESPACE, found[1])}"', text)
    studio, *others = msgspec.json.Decoder().decode_lines(with_ids)
    return [studio, *({**line, "studio_id": STUDIO_ID} for line in others)]


LINES: Final = _fixed_lines()
BY_ID: Final = {line["id"]: line for line in LINES}


def named(kind: str, name: str) -> Line:
    return BY_ID[demo_id(kind, name)]


def _members(kind: str, status: str) -> list[Line]:
    found = [line for line in LINES if line["object"] == kind and line["status"] == status]
    return [BY_ID[line["member_id"]] for line in found]


# Members with a membership, and members with credits.
SUBSCRIBERS: Final = _members("membership", "active")
PACK_HOLDERS: Final = _members("purchase", "completed")
