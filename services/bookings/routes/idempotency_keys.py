"""Idempotency keys, for partners."""

from services.bookings.actions.look_up_idempotency_key import look_up_idempotency_key
from services.bookings.context import Bookings
from services.bookings.wire.idempotency import IdempotencyKeyState
from shared.errors import NotFound
from shared.http.routes import Call, Route


async def get_idempotency_key(service: Bookings, call: Call[None, None]) -> IdempotencyKeyState:
    return await look_up_idempotency_key(service, call.caller, call.path["key"])


ROUTES: list[Route[Bookings]] = [
    Route(
        method="GET",
        path="/idempotency-keys/{key}",
        handler=get_idempotency_key,
        summary="Look up an idempotency key",
        description=(
            "For a write whose response was lost: in progress, succeeded or refused. Keys are kept for 24 "
            "hours. A key that contains a slash cannot be looked up; retry the write with it instead."
        ),
        answer=IdempotencyKeyState,
        errors=(NotFound,),
        tag="Bookings",
    ),
]
