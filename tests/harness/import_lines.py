"""Import lines for tests: new ids each time, sensible defaults for everything else."""

from datetime import UTC, datetime, timedelta
from typing import Any

from shared.wire import new_id


def location(**fields: Any) -> dict[str, Any]:
    return {
        "object": "location",
        "id": new_id(),
        "name": "Downtown",
        "city": "New York",
        "state": "NY",
        "timezone": "America/New_York",
        "active": True,
        "is_primary": False,
    } | fields


def room(location_id: str, **fields: Any) -> dict[str, Any]:
    return {
        "object": "room",
        "id": new_id(),
        "location_id": location_id,
        "name": "Main room",
        "capacity": 12,
        "active": True,
    } | fields


def class_type(**fields: Any) -> dict[str, Any]:
    return {
        "object": "class_type",
        "id": new_id(),
        "name": "Flow",
        "description": None,
        "beginner_safe": True,
        "recovery": None,
    } | fields


def instructor(**fields: Any) -> dict[str, Any]:
    return {
        "object": "instructor",
        "id": new_id(),
        "name": "Ada",
        "tagline": "Slow is smooth",
        "tags": ["yoga"],
    } | fields


def class_(**fields: Any) -> dict[str, Any]:
    """An hour long, in three days unless a `start_time` is given; one seat and a waitlist."""
    start = fields.get("start_time") or datetime.now(UTC) + timedelta(days=3)
    line = {
        "object": "class",
        "id": new_id(),
        "title": "Flow",
        "capacity": 1,
        "allow_waitlist": True,
    } | fields
    return line | {"start_time": start.isoformat(), "end_time": (start + timedelta(hours=1)).isoformat()}


def member(**fields: Any) -> dict[str, Any]:
    number = new_id()
    names = {"first_name": "Ada", "last_name": "Byron", "email": f"{number}@example.com"}
    return {"object": "member", "id": number} | names | fields


def membership(member_id: str, product_id: str, **fields: Any) -> dict[str, Any]:
    line = {"object": "membership", "id": new_id(), "member_id": member_id, "product_id": product_id}
    return line | {"status": "active", "auto_renew": True} | fields


def price(**fields: Any) -> dict[str, Any]:
    return {
        "id": new_id(),
        "amount": "25.00",
        "currency": "USD",
        "price_type": "one_time",
        "interval": "",
        "default": True,
        "active": True,
    } | fields


def product(**fields: Any) -> dict[str, Any]:
    number = new_id()
    return {
        "object": "product",
        "id": number,
        "key": f"pack-{number[:8]}",
        "name": "Five classes",
        "product_type": "package",
        "active": True,
        "client_visible": True,
        "credits_granted": 5,
        "prices": [price()],
    } | fields
