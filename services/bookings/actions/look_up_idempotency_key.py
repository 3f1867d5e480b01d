"""The state of an idempotent write, for a caller who never got the answer."""

from services.bookings.context import Bookings
from services.bookings.store import idempotency
from services.bookings.wire.idempotency import IdempotencyKeyState
from shared.errors import NotFound
from shared.http.caller import Caller


async def look_up_idempotency_key(service: Bookings, caller: Caller, key: str) -> IdempotencyKeyState:
    async with service.db.connection() as conn:
        found = await idempotency.look_up(conn, caller, key)
    if found is None:
        raise NotFound
    if found == "in_progress":
        return IdempotencyKeyState(status="in_progress", http_status=None, resource_id=None, expires_at=None)
    if found.class_id is not None and not caller.may_see(found.location_id):
        raise NotFound
    return IdempotencyKeyState(
        status="succeeded" if found.http_status < 400 else "refused",
        http_status=found.http_status,
        resource_id=found.resource_id,
        expires_at=found.expires_at,
    )
