"""The partner routes that the gateway answers itself."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from services.gateway.actions.open_console import make_console_link
from services.gateway.errors import SessionCannotMakeSessions
from services.gateway.key_cache import CachedKey
from services.gateway.routes.partner_request import PartnerRequest
from services.gateway.rules.console_cookie import origin_for
from services.gateway.store import requests
from services.gateway.upstream import UpstreamAnswer
from services.gateway.wire.key import ConsoleSessionCreate, OwnKey, RateLimit
from services.gateway.wire.request import RequestsQuery
from shared.db.database import Database
from shared.http.answer import Answer, Headers, with_entity_tag
from shared.http.decoding import decode_body, decode_query
from shared.http.routes import MAX_BODY, checked_json, read_body
from shared.routing import PartnerRoute
from shared.wire import encode

_HOST: Final = re.compile(rb"[A-Za-z0-9.:\[\]-]{1,255}\Z")

Handler = Callable[[PartnerRequest, CachedKey], Awaitable[UpstreamAnswer]]


class OwnRoutes:
    def __init__(self, db: Database, peppers: Sequence[str], public_origin: str | None) -> None:
        self._db = db
        self._peppers = peppers
        self._public_origin = public_origin
        self._handlers: dict[tuple[str, str], Handler] = {
            ("GET", "/key"): self._key,
            ("GET", "/requests"): self._requests,
            ("POST", "/console-sessions"): self._console_session,
        }

    async def answer(self, route: PartnerRoute, request: PartnerRequest, key: CachedKey) -> UpstreamAnswer:
        return await self._handlers[route.method, route.path](request, key)

    async def _key(self, request: PartnerRequest, key: CachedKey) -> UpstreamAnswer:
        return own_key(key, request.raw_headers)

    async def _requests(self, request: PartnerRequest, key: CachedKey) -> UpstreamAnswer:
        query = decode_query(RequestsQuery, request.target.partition(b"?")[2])
        async with self._db.connection() as conn:
            page = await requests.page(conn, key.caller, query)
        return json_answer(encode(page), request.raw_headers)

    async def _console_session(self, request: PartnerRequest, key: CachedKey) -> UpstreamAnswer:
        if key.session_id:
            raise SessionCannotMakeSessions
        raw = await read_body(request.receive, request.headers, MAX_BODY)
        wanted = ConsoleSessionCreate()
        if raw:
            wanted = decode_body(ConsoleSessionCreate, checked_json(raw, request.headers))
        host = request.headers.get(b"host", b"")
        origin = self._public_origin or origin_for(host.decode() if _HOST.match(host) else "localhost")
        made = await make_console_link(self._db, self._peppers, key.caller, wanted, origin)
        body = encode(made)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        return UpstreamAnswer(201, [*headers, (b"cache-control", b"no-store")], body)


# `GET /key`, which the gateway answers itself: the key in use, without its secret.
def own_key(key: CachedKey, request_headers: Headers) -> UpstreamAnswer:
    caller = key.caller
    body = encode(
        OwnKey(
            id=key.id,
            name=key.name,
            studio_id=caller.studio_id,
            client_id=caller.client_id,
            scopes=sorted(caller.scopes),
            location_ids=list(caller.location_ids) if caller.location_ids is not None else None,
            expires_at=key.expires_at,
            rate_limit=RateLimit(requests_per_second=key.rate, burst=key.burst),
        )
    )
    return json_answer(body, request_headers)


def json_answer(body: bytes, request_headers: Headers) -> UpstreamAnswer:
    answer = with_entity_tag(Answer(body), request_headers)
    headers = [(b"content-type", answer.content_type), *answer.headers]
    if answer.status == 200:
        headers.append((b"content-length", b"%d" % len(body)))
    return UpstreamAnswer(answer.status, headers, answer.body)
