"""Import lines for tests: new ids each time, sensible defaults for everything else."""

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
