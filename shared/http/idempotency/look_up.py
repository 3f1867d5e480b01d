"""What became of a write whose response was lost. The gateway asks every service that writes."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.idempotency import stored_responses
from shared.http.routes import Call, Route
from shared.wire import Id, Instant, Resource

PATH = "/internal/idempotency-keys/"


class IdempotencyKeyState(Resource, kw_only=True):
    object: Literal["idempotency_key"] = "idempotency_key"
    status: Literal["in_progress", "succeeded", "refused"]
    # Unknown while in progress.
    route: str | None
    http_status: int | None
    resource_id: Id | None
    expires_at: Instant | None


async def state_of_key(conn: Connection, caller: Caller, key: str) -> IdempotencyKeyState | None:
    found = await stored_responses.look_up(conn, caller, key)
    if found is None:
        return None
    if found == "in_progress":
        return IdempotencyKeyState(
            status="in_progress", route=None, http_status=None, resource_id=None, expires_at=None
        )
    return IdempotencyKeyState(
        status="succeeded" if found["http_status"] < 400 else "refused",
        route=found["route"],
        http_status=found["http_status"],
        resource_id=found["resource_id"],
        expires_at=found["expires_at"],
    )


MaySee = Callable[[Connection, Caller, str], Awaitable[bool]]


def look_up_route(may_see: MaySee | None = None) -> Route[Any]:
    """`may_see` tells whether the caller, who has the client and the locations of a key, sees a resource."""

    async def look_up(service: Any, call: Call[None, None]) -> IdempotencyKeyState:
        async with service.db.connection() as conn:
            found = await state_of_key(conn, call.caller, call.path["key"])
            if found is None or (
                found.resource_id is not None
                and may_see is not None
                and not await may_see(conn, call.caller, found.resource_id)
            ):
                raise NotFound
        return found

    return Route(
        method="GET",
        path=f"{PATH}{{key}}",
        handler=look_up,
        summary="Look up an idempotency key",
        response=IdempotencyKeyState,
        internal=True,
    )
