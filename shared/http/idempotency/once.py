"""Runs a write once: its response is stored in its own transaction, and replayed byte for byte."""

import hashlib
from collections.abc import Awaitable, Callable

import msgspec
from msgspec import Struct

from shared.db.database import Database
from shared.errors import Conflict, IdempotencyKeyReused, NotFound
from shared.http.caller import Caller
from shared.http.error_mapping import response_for
from shared.http.idempotency import stored_responses
from shared.http.idempotency.stored_responses import Claim, StoredResponse
from shared.http.response import Response
from shared.observability.metrics import REPLAYS
from shared.wire import encode

REPLAYED = ((b"idempotent-replayed", b"true"),)
# Refusals that are stored and replayed. Any other failure stores nothing, so a retry starts afresh.
REPLAYABLE_ERRORS = (NotFound, Conflict)


class IdempotentRequest(Struct, frozen=True):
    """A request that takes effect once. The fingerprint tells it from another request with the same key."""

    key: str
    route: str
    fingerprint: bytes

    def stored_response(
        self, response: Response, resource_id: str | None, *, shown_once: str = ""
    ) -> StoredResponse:
        body = response.body
        if shown_once and response.status < 400:
            body = encode(msgspec.json.decode(body) | {shown_once: None})
        return StoredResponse(
            key=self.key,
            route=self.route,
            fingerprint=self.fingerprint,
            http_status=response.status,
            body=body,
            resource_id=resource_id,
        )


def idempotent_request(key: str, method: str, path: str, *parts: object) -> IdempotentRequest:
    """Whatever the order of the fields of the objects in it."""
    route = f"{method} {path}"
    text = msgspec.json.encode((route, *parts), order="deterministic")
    return IdempotentRequest(key, route, hashlib.sha256(text).digest())


def canonical(body: bytes) -> bytes:
    """A JSON body whatever the order of its fields. One that only a check refuses is taken as it is."""
    try:
        return msgspec.json.encode(msgspec.json.decode(body), order="sorted")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return body


class Written(Struct, frozen=True):
    response: Response
    resource_id: str | None


async def once(
    db: Database,
    caller: Caller,
    request: IdempotentRequest,
    write: Callable[[], Awaitable[Written]],
    *,
    may_repeat: Callable[[bytes], Awaitable[None]],
    resource_id: str | None = None,
    shown_once: str = "",
) -> Response:
    """`write` joins the transaction of the key. `may_repeat` raises if the caller may not see this response.

    `resource_id` is what the write is about, where that is known before. `shown_once` is the field of the
    response that is stored as null.
    """
    async with db.transaction() as conn, db.joined(conn):
        claim = await stored_responses.claim(conn, caller, request.key)
        if claim.state == "stored":
            response = replay(request, claim)
            if response.status != 404:
                await may_repeat(response.body)
            return response
        try:
            written = await write()
        except REPLAYABLE_ERRORS as problem:
            known = None if isinstance(problem, NotFound) else resource_id
            written = Written(response_for(problem, caller.request_id), known)
        stored = request.stored_response(written.response, written.resource_id, shown_once=shown_once)
        await stored_responses.store(conn, caller, stored)
    return written.response


def replay(request: IdempotentRequest, claim: Claim) -> Response:
    if claim.fingerprint != request.fingerprint:
        raise IdempotencyKeyReused
    assert claim.body is not None and claim.http_status is not None
    REPLAYS.labels(request.route).inc()
    return Response(claim.body, claim.http_status, REPLAYED)
