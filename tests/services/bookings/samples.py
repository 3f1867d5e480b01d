"""Import lines with defaults: a test names only what it is about."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.wire import new_id


def soon(**delta: float) -> datetime:
    return datetime.now(UTC) + timedelta(**delta)


def a_class(**fields: Any) -> dict[str, Any]:
    start = fields.pop("start_time", None) or soon(days=3)
    line = {
        "object": "class",
        "id": new_id(),
        "title": "Flow",
        "start_time": start,
        "end_time": start + timedelta(hours=1),
        "capacity": 1,
        "allow_waitlist": True,
    }
    return line | fields


def a_member(**fields: Any) -> dict[str, Any]:
    member_id = fields.pop("id", new_id())
    names = {"first_name": "Ada", "last_name": "Byron", "email": f"{member_id}@example.com"}
    return {"object": "member", "id": member_id} | names | fields


def a_membership(member_id: str, **fields: Any) -> dict[str, Any]:
    line = {"object": "membership", "id": new_id(), "member_id": member_id, "product_id": new_id()}
    return line | {"status": "active", "auto_renew": True, "state_version": 1} | fields


def a_product(credits: int | None = 10, **fields: Any) -> dict[str, Any]:
    line = {"object": "product", "id": new_id(), "key": new_id(), "name": "Pack", "product_type": "package"}
    return line | {"credits_granted": credits} | fields


def a_purchase(member_id: str, product: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    line = {"object": "purchase", "id": new_id(), "member_id": member_id, "product_id": product["id"]}
    sold = {"product_key": product["key"], "product_type": "package", "quantity": 1, "status": "completed"}
    return line | sold | fields


def a_spot(class_id: str, **fields: Any) -> dict[str, Any]:
    return {"object": "class_spot", "id": new_id(), "class_id": class_id, "label": "A"} | fields


def a_studio(studio_id: str, **policy: Any) -> dict[str, Any]:
    return {"object": "studio", "id": studio_id, "name": "Studio", "slug": None, "timezone": None} | policy
