"""The smallest studio in which something can be booked: free classes, and members with a membership."""

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

from shared.wire import new_id
from tests.harness import import_lines


class Bookable(Struct):
    lines: list[dict[str, Any]]
    class_ids: list[str]
    member_ids: list[str]


def bookable(*, classes: int = 1, members: int = 1, seats: int = 1000) -> Bookable:
    product = import_lines.product()
    start = datetime.now(UTC) + timedelta(days=2)
    class_lines: list[dict[str, Any]] = [
        {
            "object": "class",
            "id": new_id(),
            "title": "Flow",
            "start_time": start.isoformat(),
            "end_time": (start + timedelta(hours=1)).isoformat(),
            "capacity": seats,
            "allow_waitlist": True,
            "credit_cost": 0,
        }
        for _ in range(classes)
    ]
    member_lines = [_member(number) for number in range(members)]
    memberships = [
        {
            "object": "membership",
            "id": new_id(),
            "member_id": member["id"],
            "product_id": product["id"],
            "status": "active",
            "auto_renew": True,
            "state_version": 1,
        }
        for member in member_lines
    ]
    return Bookable(
        [product, *class_lines, *member_lines, *memberships],
        [line["id"] for line in class_lines],
        [line["id"] for line in member_lines],
    )


def _member(number: int) -> dict[str, Any]:
    member_id = new_id()
    return {
        "object": "member",
        "id": member_id,
        "first_name": f"Ada{number}",
        "last_name": "Byron",
        "email": f"{member_id}@example.com",
    }
