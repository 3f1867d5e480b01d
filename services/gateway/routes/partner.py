"""The hot path: authenticate from memory, check rate and scope, forward, return the answer unchanged.

Raw ASGI, because the hop's cost is counted in tens of microseconds: bodies and answers are never parsed here.
"""

import time
from collections.abc import Mapping
from typing import Final

import structlog

from services.gateway.errors import InvalidKey, MissingKey
from services.gateway.key_cache import CachedKey, KeyCache
from services.gateway.request_log import RequestLog, error_code_in
from services.gateway.routes.own_routes import OwnRoutes
from services.gateway.routes.partner_request import PartnerRequest
from services.gateway.rules.console_cookie import PARTNER_COOKIE, cookie_of, sent_by_page
from services.gateway.rules.rate_limit import (
    LARGE_BODY,
    ClientLimits,
    FailedKeyLimits,
    LargeBodies,
    cost_of,
)
from services.gateway.session_cache import SessionCache
from services.gateway.shared_rate_limits import SharedLimits
from services.gateway.upstream import NotReached, OutcomeUnknown, Upstream, UpstreamAnswer
from shared.errors import (
    InsufficientScope,
    Invalid,
    Problem,
    RateLimited,
    Unauthenticated,
    Unavailable,
    UnsupportedApiVersion,
    UpstreamTimeout,
)
from shared.http.answer import IF_NONE_MATCH
from shared.http.asgi import Receive, Scope, Send
from shared.http.caller import CALLER_HEADER, REQUEST_ID_HEADER, TRACE_HEADER
from shared.http.client_address import TrustedProxies
from shared.http.connection_limits import mark_authenticated
from shared.http.error_mapping import answer_for
from shared.http.route_table import RouteTable
from shared.http.routes import IDEMPOTENCY_HEADER, MAX_BODY, read_body
from shared.observability.log import RequestLine, log_request
from shared.observability.metrics import RouteMetrics
from shared.observability.tracing import begin, trace_id_of
from shared.routing import ANY_KEY, GATEWAY, PREFIX, ROUTES, PartnerRoute
from shared.wire import API_VERSION

log = structlog.get_logger("request")

KEY_HEADER: Final = b"x-service-key"
VERSION_HEADER: Final = b"x-api-version"
WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
# Request headers that are forwarded. All others are dropped, including forged internal ones.
FORWARDED: Final = (b"content-type", IDEMPOTENCY_HEADER)
# Response headers that the gateway sets itself, or that the partner does not need.
NOT_RETURNED: Final = frozenset({b"server", b"date", b"x-request-id", b"x-api-version"})

VERSION: Final = (VERSION_HEADER, API_VERSION.encode())

Headers = list[tuple[bytes, bytes]]


class PartnerApi:
    def __init__(
        self,
        key_cache: KeyCache,
        upstreams: Mapping[str, Upstream],
        proxies: TrustedProxies,
        *,
        sessions: SessionCache | None = None,
        own_routes: OwnRoutes | None = None,
        request_log: RequestLog | None = None,
        failed_keys: FailedKeyLimits | None = None,
        limits: ClientLimits | SharedLimits | None = None,
    ) -> None:
        self._key_cache = key_cache
        self._sessions = sessions
        self._own_routes = own_routes
        self._request_log = request_log
        self._proxies = proxies
        self._upstreams = upstreams
        self._table = RouteTable(ROUTES, PREFIX)
        self._limits = limits or ClientLimits()
        self._failed_keys = failed_keys or FailedKeyLimits()
        self._large_bodies = LargeBodies()
        self._metrics: dict[PartnerRoute | None, RouteMetrics] = {
            route: RouteMetrics("gateway", route.method, route.path) for route in ROUTES
        }
        # Requests refused before routing: no key, rate limit, unknown path.
        self._metrics[None] = RouteMetrics("gateway", "", "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = PartnerRequest(scope, receive, self._proxies)
        try:
            answer = await self._answer(request)
        except Exception as problem:
            with structlog.contextvars.bound_contextvars(request_id=request.id):
                failed = answer_for(problem, request.id)
            headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(failed.body))]
            answer = UpstreamAnswer(failed.status, headers + list(failed.headers), failed.body)
        await self._send(send, request, answer)
        seconds = time.perf_counter() - started
        self._metrics[request.route].observe(answer.status, seconds)
        if request.span is not None:
            request.span.end(
                failed=answer.status >= 500,
                http__response__status_code=answer.status,
                studio__request_id=request.id,
            )
        if request.key is not None:
            mark_authenticated(scope)
        if self._request_log is not None and request.key is not None:
            self._request_log.add(
                (
                    time.time(),
                    request.key.caller,
                    request.method,
                    request.route.path if request.route else None,
                    answer.status,
                    error_code_in(answer.body) if answer.status >= 400 else None,
                    seconds,
                    request.id,
                )
            )
        log_request(
            RequestLine(
                service="gateway",
                method=request.method,
                route=request.route.path if request.route else None,
                status=answer.status,
                ms=round(seconds * 1000, 2),
                request_id=request.id,
                trace_id=trace_id_of(request.traceparent),
                studio_id=request.key.caller.studio_id if request.key else None,
                client_id=request.key.caller.client_id if request.key else None,
                key_id=request.key.id if request.key else None,
            )
        )

    async def _answer(self, request: PartnerRequest) -> UpstreamAnswer:
        """The order of checks is the contract's: 401, 429, 403, then what the owner finds."""
        key = request.key = await self._authenticate(request)
        now = time.monotonic()
        bucket = request.bucket = self._limits.of(key.caller.client_id, key.rate, key.burst, now)
        cost = request.cost
        if not bucket.take(now, cost) and not await self._limits.take_more(bucket, cost):
            raise RateLimited(bucket.retry_after(cost))
        route = request.route = self._table.find(request.method, request.path)
        if route.scope != ANY_KEY and route.scope not in key.caller.scopes:
            raise InsufficientScope(route.scope, key.caller.scopes)
        version = request.headers.get(VERSION_HEADER)
        if version is not None and version != VERSION[1]:
            raise UnsupportedApiVersion([API_VERSION])
        if route.owner == GATEWAY and self._own_routes is not None:
            return await self._own_routes.answer(route, request, key)
        return await self._forward(request, route, key)

    async def _authenticate(self, request: PartnerRequest) -> CachedKey:
        text = request.headers.get(KEY_HEADER)
        now = time.monotonic()
        try:
            # Made-up keys from an address that is over its limit must not cost a query each.
            batched = self._failed_keys.is_exhausted(request.address, now)
            if not text:
                return await self._session(request, batched)
            if not text.isascii():
                raise InvalidKey
            return await self._key_cache.authenticate(text.decode(), batched=batched)
        except MissingKey:
            raise
        except Unauthenticated:
            wait = self._failed_keys.take(request.address, now)
            if wait is not None:
                raise RateLimited(wait) from None
            raise

    async def _session(self, request: PartnerRequest, batched: bool) -> CachedKey:
        """The console's cookie is accepted instead of a key, but only from the console's own page."""
        cookie = cookie_of(request.raw_headers, PARTNER_COOKIE) if sent_by_page(request.headers) else None
        if cookie is None or self._sessions is None:
            raise MissingKey
        return await self._sessions.authenticate(cookie, batched=batched)

    async def _forward(self, request: PartnerRequest, route: PartnerRoute, key: CachedKey) -> UpstreamAnswer:
        headers = [
            (CALLER_HEADER, self._key_cache.signed_caller(key, route.owner)),
            (REQUEST_ID_HEADER, request.id.encode()),
        ]
        request.span = begin(f"{request.method} {route.path}", request.traceparent, "server")
        if request.span is not None:
            request.traceparent = request.span.traceparent
        if request.traceparent is not None:
            headers.append((TRACE_HEADER, request.traceparent.encode()))
        for name in FORWARDED:
            if (value := request.headers.get(name)) is not None:
                headers.append((name, value))
        if IF_NONE_MATCH in request.headers:
            # A list of tags may have several header lines; the dict contains only the last.
            headers += [header for header in request.raw_headers if header[0] == IF_NONE_MATCH]
        body = b""
        if request.method not in WITHOUT_BODY:
            body = await read_body(request.receive, request.headers, MAX_BODY)
            if (unpaid := cost_of(len(body)) - request.cost) > 0:
                await self._charge(request, unpaid)
        is_large = len(body) > LARGE_BODY
        if is_large:
            self._large_bodies.begin(key.caller.client_id)
        try:
            answer = await self._upstreams[route.owner].request(
                request.method.encode(), request.target, headers, body
            )
        except NotReached:
            raise Unavailable from None
        except OutcomeUnknown:
            raise UpstreamTimeout from None
        except ValueError as problem:
            place = "header" if request.target.isascii() else "query"
            raise Invalid([Problem((place,), str(problem), "value_error")]) from None
        finally:
            if is_large:
                self._large_bodies.end(key.caller.client_id)
        if answer.status == 401:
            # A service rejected our signature: keys or clocks differ. That is not the partner's fault.
            log.error("service_refused_the_gateway", owner=route.owner, request_id=request.id)
            raise Unavailable
        answer.headers = [header for header in answer.headers if header[0] not in NOT_RETURNED]
        return answer

    async def _charge(self, request: PartnerRequest, cost: int) -> None:
        """For a body whose size was not known before."""
        bucket = request.bucket
        assert bucket is not None
        if not bucket.take(time.monotonic(), cost) and not await self._limits.take_more(bucket, cost):
            raise RateLimited(bucket.retry_after(cost))

    async def _send(self, send: Send, request: PartnerRequest, answer: UpstreamAnswer) -> None:
        headers: Headers = answer.headers
        headers.append((b"x-request-id", request.id.encode()))
        headers.append(VERSION)
        if request.bucket is not None:
            headers += request.bucket.headers()
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        rest = answer.stream
        await send({"type": "http.response.body", "body": answer.body, "more_body": rest is not None})
        if rest is None:
            return
        try:
            async for part in rest:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        except OutcomeUnknown:
            # The status is already sent: closing without the last chunk shows that the answer is incomplete.
            log.warning("answer_cut_short", request_id=request.id)
            raise
        await send({"type": "http.response.body", "body": b"", "more_body": False})
