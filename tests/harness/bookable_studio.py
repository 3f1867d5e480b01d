"""The smallest studio in which something can be booked: free classes, and members with a membership."""

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

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
