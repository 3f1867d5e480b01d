"""The partner routes that the gateway answers itself."""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from services.gateway.actions.open_console import make_console_link, scopes_of_link
from services.gateway.errors import SessionCannotMakeSessions
from services.gateway.key_cache import CachedKey
from services.gateway.rules.console_cookie import origin_for
from services.gateway.store import request_counts, requests
from services.gateway.upstream import NotReached, OutcomeUnknown, Upstream
from services.gateway.wire.key import ConsoleSessionCreate, OwnConsoleSession, OwnKey, RateLimit
from services.gateway.wire.request import CountsQuery, LoggedRequest, RequestCounts, RequestsQuery
from shared.db.database import Database
from shared.db.migrate import WRITERS
from shared.errors import NotFound, Unavailable
from shared.http.caller import CALLER_HEADER, REQUEST_ID_HEADER, CallerSigner
from shared.http.idempotency.look_up import PATH, IdempotencyKeyState, state_of_key
from shared.http.pages import Page
from shared.http.response import Response
from shared.http.routes import Call, Routes
from shared.routing import GATEWAY
from shared.wire import encode

_HOST: Final = re.compile(rb"[A-Za-z0-9.:\[\]-]{1,255}\Z")


class KeyContext(Struct, frozen=True):
    """`key` is the one that the request was made with."""

    db: Database
    peppers: Sequence[str]
    public_origin: str | None
    signers: Mapping[str, CallerSigner]
    upstreams: Mapping[str, Upstream]
    key: CachedKey


ROUTES: Routes[KeyContext] = Routes()


@ROUTES.add(
    "GET",
    "/key",
    "Read the key in use",
    tag="Key",
)
async def get_key(context: KeyContext, call: Call[None, None]) -> OwnKey:
    key, caller = context.key, call.caller
    return OwnKey(
        id=key.id,
        name=key.name,
        studio_id=caller.studio_id,
        client_id=caller.client_id,
        scopes=sorted(caller.scopes),
        location_ids=list(caller.location_ids) if caller.location_ids is not None else None,
        expires_at=key.expires_at,
        rate_limit=RateLimit(requests_per_second=key.rate, burst=key.burst),
    )


@ROUTES.add(
    "GET",
    "/requests",
    "List your requests of the last seven days",
    tag="Key",
)
async def list_requests(context: KeyContext, call: Call[RequestsQuery, None]) -> Page[LoggedRequest]:
    async with context.db.connection() as conn:
        return await requests.page(conn, call.caller, call.query)


@ROUTES.add(
    "GET",
    "/requests/counts",
    "Count your requests by status over a window",
    description="The bars of a histogram, oldest first: minutes, half hours or three hours. A request is "
    "counted within seconds. When very many arrive at once, some successful ones are not.",
    tag="Key",
)
async def get_request_counts(context: KeyContext, call: Call[CountsQuery, None]) -> RequestCounts:
    async with context.db.connection() as conn:
        return await request_counts.counts(conn, call.caller.client_id, call.query)


@ROUTES.add(
    "GET",
    "/idempotency-keys/{key}",
    "Look up an idempotency key",
    description="For a write whose response was lost: in progress, succeeded or refused. Keys are kept for "
    "24 hours. If several services have the key, the newest use of it is returned. A key that contains a "
    "slash cannot be looked up; retry the write with it instead.",
    errors=(NotFound,),
    tag="Key",
)
async def get_idempotency_key(context: KeyContext, call: Call[None, None]) -> IdempotencyKeyState:
    async with context.db.connection() as conn:
        own = await state_of_key(conn, call.caller, call.path["key"])
    owners = [owner for owner in WRITERS if owner != GATEWAY]
    lookups = (_state_in(context, owner, call) for owner in owners)
    others = await asyncio.gather(*lookups, return_exceptions=True)
    states = [state for state in (own, *others) if isinstance(state, IdempotencyKeyState)]
    if not states:
        # If one could not be asked, nobody knows.
        raise next((state for state in others if isinstance(state, BaseException)), NotFound())
    return max(states, key=lambda state: state.expires_at.timestamp() if state.expires_at else math.inf)


async def _state_in(context: KeyContext, owner: str, call: Call[None, None]) -> IdempotencyKeyState | None:
    caller = msgspec.structs.replace(call.caller, actor="operator", request_id="")
    headers = [
        (CALLER_HEADER, context.signers[owner].sign(caller)),
        (REQUEST_ID_HEADER, call.caller.request_id.encode()),
    ]
    target = PATH + quote(call.path["key"], safe="")
    try:
        response = await context.upstreams[owner].request(b"GET", target.encode(), headers, b"")
    except (NotReached, OutcomeUnknown):
        raise Unavailable(f"The {owner} service is unavailable; try again.") from None
    if response.status not in (200, 404):
        raise Unavailable(f"The {owner} service answered {response.status}; try again.")
    return msgspec.json.decode(response.body, type=IdempotencyKeyState) if response.status == 200 else None


async def _may_repeat(context: KeyContext, call: Call[Any, Any], stored: bytes) -> None:
    if context.key.session_id:
        raise SessionCannotMakeSessions
    scopes_of_link(call.body.scopes, call.caller.scopes)


@ROUTES.add(
    "POST",
    "/console-sessions",
    "Create a link into the console",
    optional_body=True,
    response=OwnConsoleSession,
    status=201,
    may_repeat=_may_repeat,
    shown_once="url",
    errors=(SessionCannotMakeSessions,),
    tag="Key",
)
async def post_console_session(context: KeyContext, call: Call[None, ConsoleSessionCreate]) -> Response:
    await _may_repeat(context, call, b"")
    host = call.headers.get(b"host", b"")
    origin = context.public_origin or origin_for(host.decode() if _HOST.match(host) else "localhost")
    made = await make_console_link(context.db, context.peppers, call.caller, call.body, origin)
    return Response(encode(made), 201, ((b"cache-control", b"no-store"),))
