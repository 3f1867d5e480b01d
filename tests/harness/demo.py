"""The demo studio under other ids, so that tests which share a system do not share the studio."""

import json
from datetime import date
from typing import Any

from services.cli.demo import demo_lines
from shared.wire import new_id


def demo_with_new_ids(day: date) -> list[dict[str, Any]]:
    """The studio's line comes first and has a slug of its own."""
    lines = list(demo_lines(day))
    text = "\n".join(json.dumps(line) for line in lines)
    for line in lines:
        text = text.replace(str(line["id"]), new_id())
    fresh: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    fresh[0]["slug"] = f"s-{new_id()[:8]}"
    return fresh
