"""The partner routes that the gateway answers itself."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from services.gateway.actions.open_console import make_console_link
from services.gateway.errors import SessionCannotMakeSessions
from services.gateway.key_cache import CachedKey
from services.gateway.rules.console_cookie import origin_for
from services.gateway.store import requests
from services.gateway.wire.key import ConsoleSession, ConsoleSessionCreate, OwnKey, RateLimit
from services.gateway.wire.request import LoggedRequest, RequestsQuery
from shared.db.database import Database
from shared.http.pages import Page
from shared.http.response import Response
from shared.http.routes import Call, Routes
from shared.wire import encode

_HOST: Final = re.compile(rb"[A-Za-z0-9.:\[\]-]{1,255}\Z")


class KeyContext(Struct, frozen=True):
    """`key` is the one that the request was made with."""

    db: Database
    peppers: Sequence[str]
    public_origin: str | None
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
    "POST",
    "/console-sessions",
    "Create a link into the console",
    optional_body=True,
    response=ConsoleSession,
    status=201,
    errors=(SessionCannotMakeSessions,),
    tag="Key",
)
async def post_console_session(context: KeyContext, call: Call[None, ConsoleSessionCreate]) -> Response:
    if context.key.session_id:
        raise SessionCannotMakeSessions
    host = call.headers.get(b"host", b"")
    origin = context.public_origin or origin_for(host.decode() if _HOST.match(host) else "localhost")
    made = await make_console_link(context.db, context.peppers, call.caller, call.body, origin)
    return Response(encode(made), 201, ((b"cache-control", b"no-store"),))
