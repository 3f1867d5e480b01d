"""An idempotent write stores its response in the same transaction, and replays it byte for byte."""

import hashlib

from msgspec import Struct

from services.bookings.context import Bookings
from services.bookings.errors import IdempotencyKeyReused
from services.bookings.store import idempotency
from services.bookings.store.idempotency import Claim, StoredResponse
from services.bookings.wire.bookings import IdempotencyKeyState
from shared.errors import Conflict, NotFound
from shared.http.caller import Caller
from shared.http.response import Response
from shared.observability.metrics import REPLAYS
from shared.wire import encode

REPLAYED = ((b"idempotent-replayed", b"true"),)


class IdempotentRequest(Struct, frozen=True):
    """A request that takes effect once. The fingerprint tells it from another request with the same key."""

    key: str
    fingerprint: bytes

    def stored_response(
        self, response: Response, *, resource_id: str | None, class_id: str | None
    ) -> StoredResponse:
        return StoredResponse(
            key=self.key,
            fingerprint=self.fingerprint,
            http_status=response.status,
            body=response.body,
            resource_id=resource_id,
            class_id=class_id,
        )


def idempotent_request(key: str, method: str, route: str, *parts: object) -> IdempotentRequest:
    """`parts` are validated values: leaving a default out and spelling it out give the same fingerprint."""
    return IdempotentRequest(key, hashlib.sha256(encode((method, route, *parts))).digest())


def replay(request: IdempotentRequest, claim: Claim, caller: Caller) -> Response:
    """Checks the location again: another API key of the same client may see fewer locations."""
    if claim.fingerprint != request.fingerprint:
        raise IdempotencyKeyReused
    if claim.class_id is not None and not caller.may_see(claim.location_id):
        raise NotFound
    assert claim.body is not None and claim.http_status is not None
    REPLAYS.labels("bookings").inc()
    return Response(claim.body, claim.http_status, REPLAYED)


REPLAYABLE_ERRORS = (NotFound, Conflict)
"""Refusals that are stored and replayed. Any other failure stores nothing, so a retry starts afresh."""


async def look_up_idempotency_key(service: Bookings, caller: Caller, key: str) -> IdempotencyKeyState:
    async with service.db.connection() as conn:
        found = await idempotency.look_up(conn, caller, key)
    if found == "in_progress":
        return IdempotencyKeyState(status="in_progress", http_status=None, resource_id=None, expires_at=None)
    return IdempotencyKeyState(
        status="succeeded" if found["http_status"] < 400 else "refused",
        http_status=found["http_status"],
        resource_id=found["resource_id"],
        expires_at=found["expires_at"],
    )
