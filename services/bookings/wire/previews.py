"""What a booking would lead to."""

from typing import Any, Literal

from shared.wire import Resource


class PreviewCheck(Resource, kw_only=True):
    code: str
    passed: bool
    details: dict[str, Any]


class BookingPreview(Resource, kw_only=True):
    object: Literal["booking_preview"] = "booking_preview"
    outcome: Literal["confirmed", "waitlisted", "refused"]
    waitlist_position: int | None
    code: str | None
    checks: list[PreviewCheck]
