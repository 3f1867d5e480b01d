"""Studios for tests: the smallest one in which something can be booked, and the demo under other ids."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

from msgspec import Struct

from services.cli.demo import demo_lines
from shared.wire import new_id
from tests.harness import import_lines


class Bookable(Struct):
    lines: list[dict[str, Any]]
    class_ids: list[str]
    member_ids: list[str]


def bookable(*, classes: int = 1, members: int = 1, seats: int = 1000) -> Bookable:
    product = import_lines.product()
    start = datetime.now(UTC) + timedelta(days=2)
    lessons = [import_lines.class_(start_time=start, capacity=seats, credit_cost=0) for _ in range(classes)]
    people = [import_lines.member(first_name=f"Ada{number}") for number in range(members)]
    cards = [import_lines.membership(one["id"], product["id"], state_version=1) for one in people]
    lines = [product, *lessons, *people, *cards]
    return Bookable(lines, [one["id"] for one in lessons], [one["id"] for one in people])


def demo_with_new_ids(day: date) -> list[dict[str, Any]]:
    """The studio's line comes first and has a slug of its own."""
    lines = list(demo_lines(day))
    text = "\n".join(json.dumps(line) for line in lines)
    for line in lines:
        text = text.replace(str(line["id"]), new_id())
    fresh: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    fresh[0]["slug"] = f"s-{new_id()[:8]}"
    return fresh
