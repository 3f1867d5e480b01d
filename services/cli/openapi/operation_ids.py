"""The operation ids.

Generated clients use them as function names, so they depend on the path and not on the name of a handler.
"""

from typing import Final

SPECIAL: Final = {
    ("GET", "/key"): "get_key",
    ("GET", "/studio"): "get_studio",
    ("GET", "/classes/{class_id}/spots"): "list_class_spots",
    ("POST", "/bookings/preview"): "preview_booking",
    ("DELETE", "/bookings/{booking_id}"): "cancel_booking",
    ("GET", "/bookings/{booking_id}/cancellation-preview"): "preview_cancellation",
    ("GET", "/waitlist/{waitlist_id}"): "get_waitlist_entry",
    ("POST", "/leads/{lead_id}/update"): "update_lead_by_post",
    ("POST", "/webhook-endpoints/{endpoint_id}/rotate-secret"): "rotate_webhook_secret",
    ("GET", "/webhook-endpoints/{endpoint_id}/recoveries/{recovery_id}"): "get_webhook_recovery",
    ("GET", "/webhook-endpoints/{endpoint_id}/deliveries"): "list_webhook_deliveries",
}
VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}


def operation_id(method: str, path: str) -> str:
    if (method, path) in SPECIAL:
        return SPECIAL[method, path]
    words = [part.replace("-", "_") for part in path.strip("/").split("/") if not part.startswith("{")]
    last = words[-1]
    if method == "GET":
        return f"get_{singular(last)}" if path.endswith("}") else f"list_{last}"
    if method == "POST" and len(words) > 1 and singular(last) == last:
        return f"{last}_{singular(words[-2])}"
    return f"{VERBS[method]}_{singular(last)}"


def singular(noun: str) -> str:
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if noun.endswith("sses"):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun
