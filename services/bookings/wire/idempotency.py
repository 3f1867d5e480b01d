"""The state of an idempotency key."""

from typing import Literal

from shared.wire import Id, Instant, Resource


class IdempotencyKeyState(Resource, kw_only=True):
    object: Literal["idempotency_key"] = "idempotency_key"
    status: Literal["in_progress", "succeeded", "refused"]
    http_status: int | None
    resource_id: Id | None
    expires_at: Instant | None
