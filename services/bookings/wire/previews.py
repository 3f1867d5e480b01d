"""What a booking would come to, and what became of an idempotency key."""

from typing import Any, Literal

from shared.wire import Id, Instant, Resource


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


class IdempotencyKeyState(Resource, kw_only=True):
    object: Literal["idempotency_key"] = "idempotency_key"
    status: Literal["in_progress", "succeeded", "refused"]
    http_status: int | None
    resource_id: Id | None
    expires_at: Instant | None
