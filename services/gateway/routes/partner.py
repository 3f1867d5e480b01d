"""The hot path: authenticate from memory, check rate and scope, forward, return the response unchanged.

Raw ASGI, because the hop's cost is counted in tens of microseconds: bodies are never parsed here.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import structlog

from services.gateway.errors import InvalidKey, MissingKey
from services.gateway.key_cache import CachedKey, KeyCache
from services.gateway.partner_sessions import PartnerSessions
from services.gateway.request_log import RequestLog, error_code_in
from services.gateway.routes import own_routes
from services.gateway.routes.own_routes import KeyContext
from services.gateway.rules.console_cookie import PARTNER_COOKIE, cookie_of, sent_by_page
from services.gateway.rules.rate_limit import (
    LARGE_BODY,
    ClientLimits,
    FailedKeyLimits,
    LargeBodies,
    ReservedBucket,
    TokenBucket,
    cost_of,
)
from services.gateway.rules.waits import GRACE, WAITING, Waits, seconds_of, without_wait
from services.gateway.shared_rate_limits import SharedLimits
from services.gateway.shared_waits import SharedWaits
from services.gateway.upstream import NotReached, OutcomeUnknown, Upstream, UpstreamResponse
from services.gateway.wire.request import Source
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
from shared.http.asgi import Receive, Scope, Send
from shared.http.caller import CALLER_HEADER, REQUEST_ID_HEADER, TRACE_HEADER
from shared.http.client_address import TrustedProxies, address_of
from shared.http.connection_limits import mark_authenticated
from shared.http.error_mapping import response_for
from shared.http.response import IF_NONE_MATCH, Response, with_entity_tag
from shared.http.route_table import RouteTable
from shared.http.routes import IDEMPOTENCY_HEADER, MAX_BODY, read_body
from shared.http.service import log_response, raw_path_of, valid_request_id
from shared.http.waiting import STOPPING, Stopping, pause, unless_ended
from shared.observability.metrics import RouteMetrics
from shared.observability.tracing import Span, begin, valid_traceparent
from shared.routing import GATEWAY, PREFIX, ROUTES, PartnerRoute
from shared.wire import API_VERSION

log = structlog.get_logger("request")

KEY_HEADER: Final = b"x-service-key"
VERSION_HEADER: Final = b"x-api-version"
WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
# Request headers that are forwarded. All others are dropped, including forged internal ones.
FORWARDED: Final = (b"content-type", IDEMPOTENCY_HEADER)
# Response headers that the gateway sets itself, or that the partner does not need.
NOT_RETURNED: Final = frozenset({b"server", b"date", b"x-request-id", b"x-api-version"})

EVENTS: Final = "/events"
VERSION: Final = (VERSION_HEADER, API_VERSION.encode())

Headers = list[tuple[bytes, bytes]]


class PartnerRequest:
    """The state of one request: the parts of the scope, read once, and the results of the checks."""

    __slots__ = (
        "address", "bucket", "cost", "headers", "id", "key", "method", "path", "raw_headers", "receive",
        "route", "scope", "span", "target", "traceparent", "waited",
    )  # fmt: skip

    def __init__(self, scope: Any, receive: Receive, proxies: TrustedProxies) -> None:
        self.scope = scope
        self.raw_headers: list[tuple[bytes, bytes]] = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(self.raw_headers)
        self.id = valid_request_id(self.headers.get(REQUEST_ID_HEADER))
        self.method: str = scope["method"]
        self.path = raw_path_of(scope)
        query: bytes = scope["query_string"]
        self.target = self.path[len(PREFIX) :] + (b"?" + query if query else b"")
        self.address = address_of(scope, self.headers, proxies)
        self.receive = receive
        length = self.headers.get(b"content-length")
        # An unknown length is charged once the body has been read.
        self.cost = cost_of(min(int(length), MAX_BODY)) if length and length.isdigit() else 1
        self.key: CachedKey | None = None
        self.bucket: TokenBucket | ReservedBucket | None = None
        self.route: PartnerRoute | None = None
        self.span: Span | None = None
        # Seconds in which it only waited for an event: they are not counted as slowness.
        self.waited = 0.0
        trace = self.headers.get(TRACE_HEADER)
        self.traceparent = valid_traceparent(trace.decode("latin-1")) if trace else None


class PartnerApi:
    def __init__(
        self,
        key_cache: KeyCache,
        upstreams: Mapping[str, Upstream],
        proxies: TrustedProxies,
        *,
        sessions: PartnerSessions,
        request_log: RequestLog,
        failed_keys: FailedKeyLimits,
        limits: ClientLimits | SharedLimits,
        own_context: Callable[[CachedKey], KeyContext],
    ) -> None:
        self._key_cache = key_cache
        self._sessions = sessions
        self._own_context = own_context
        self._own_routes = {(route.method, route.path): route for route in own_routes.ROUTES}
        self._request_log = request_log
        self._proxies = proxies
        self._upstreams = upstreams
        self._table = RouteTable(ROUTES, PREFIX)
        self._limits = limits
        self._failed_keys = failed_keys
        self._large_bodies = LargeBodies()
        self._waits = Waits()
        self._shared_waits = SharedWaits()
        self._metrics: dict[PartnerRoute | None, RouteMetrics] = {
            route: RouteMetrics("gateway", route.method, route.path) for route in ROUTES
        }
        # Requests refused before routing: no key, rate limit, unknown path.
        self._metrics[None] = RouteMetrics("gateway", "", "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = PartnerRequest(scope, receive, self._proxies)
        try:
            response = await self._response(request)
        except Exception as problem:
            with structlog.contextvars.bound_contextvars(request_id=request.id):
                response = _as_forwarded(response_for(problem, request.id))
        if response is None:  # The client has no status, so none is counted or logged.
            if request.span is not None:
                request.span.end()
            return
        await self._send(send, request, response)
        seconds = time.perf_counter() - started
        self._metrics[request.route].observe(response.status, seconds - request.waited)
        if request.span is not None:
            request.span.end(
                failed=response.status >= 500,
                http__response__status_code=response.status,
                studio__request_id=request.id,
            )
        route = request.route.path if request.route else None
        caller = request.key.caller if request.key else None
        if caller is not None:
            mark_authenticated(scope)
            code = error_code_in(response.body) if response.status >= 400 else None
            source: Source = "console" if request.key and request.key.session_id else "key"
            self._request_log.add(
                (
                    time.time(),
                    caller,
                    request.method,
                    route,
                    response.status,
                    code,
                    seconds - request.waited,
                    request.id,
                    source,
                )
            )
        status, trace = response.status, request.traceparent
        log_response(GATEWAY, request.method, route, status, seconds, request.id, caller, trace)

    async def _response(self, request: PartnerRequest) -> UpstreamResponse | None:
        """In the contract's order: 401, 429, 403, then what the owner finds. None if the client hung up."""
        key = request.key = await self._authenticate(request)
        now = time.monotonic()
        bucket = request.bucket = self._limits.of(key.caller.client_id, key.rate, key.burst, now)
        cost = request.cost
        if not bucket.take(now, cost) and not await self._limits.take_more(bucket, cost):
            raise RateLimited(bucket.retry_after(cost))
        route = request.route = self._table.find(request.method, request.path)
        if missing := route.missing_scope(key.caller.scopes):
            raise InsufficientScope(missing, key.caller.scopes)
        version = request.headers.get(VERSION_HEADER)
        if version is not None and version != VERSION[1]:
            raise UnsupportedApiVersion([API_VERSION])
        if route.owner == GATEWAY:
            return await self._response_itself(request, route, key)
        request.span = begin(f"{request.method} {route.path}", request.traceparent, "server")
        if request.span is not None:
            request.traceparent = request.span.traceparent
        if route.path == EVENTS and (seconds := seconds_of(request.scope["query_string"])):
            return await self._wait(request, route, key, seconds)
        return await self._forward(request, route, key)

    async def _wait(
        self, request: PartnerRequest, route: PartnerRoute, key: CachedKey, seconds: float
    ) -> UpstreamResponse | None:
        """Once this process is being stopped, what there is now. Meanwhile the key may have ended."""
        stopping: Stopping | None = request.scope.get(STOPPING)
        began = time.perf_counter()
        mark_authenticated(request.scope)
        forward = partial(self._forward, request, route, key, WAITING)
        # Equal callers see the same. Whoever names tags gets an answer of its own.
        what = (key.caller, request.target, request.id if IF_NONE_MATCH in request.headers else None)
        with self._waits.one_more((key.caller.client_id, bool(key.session_id))):
            try:
                waiting = self._shared_waits.wait(what, seconds, forward)
                response = await unless_ended(waiting, request.receive, stopping, seconds + GRACE)
            except TimeoutError:
                raise UpstreamTimeout from None
        request.waited = time.perf_counter() - began
        if response is None and stopping is not None and stopping.began:
            query = without_wait(request.scope["query_string"])
            request.target = request.path[len(PREFIX) :] + b"?" + query
            response = await forward()
        if response is not None:
            request.key = await self._authenticate(request)
        return response

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
        except Unauthenticated as problem:
            await pause(self._failed_keys.pause(request.address, now), request.scope.get(STOPPING))
            failed = not isinstance(problem, MissingKey)
            if failed and (wait := self._failed_keys.take(request.address, now)) is not None:
                raise RateLimited(wait) from None
            raise

    async def _session(self, request: PartnerRequest, batched: bool) -> CachedKey:
        """The console's cookie is accepted instead of a key, but only from the console's own page."""
        cookie = cookie_of(request.raw_headers, PARTNER_COOKIE) if sent_by_page(request.headers) else None
        if cookie is None:
            raise MissingKey
        return await self._sessions.authenticate(cookie, batched=batched)

    async def _response_itself(
        self, request: PartnerRequest, route: PartnerRoute, key: CachedKey
    ) -> UpstreamResponse:
        request.scope["path_params"] = self._table.parameters(route, request.path)
        own, caller = self._own_routes[route.method, route.path], key.caller.with_request_id(request.id)
        response = await own.respond(self._own_context(key), caller, request.scope, request.receive)
        return _as_forwarded(
            with_entity_tag(response, request.raw_headers) if route.method == "GET" else response
        )

    async def _forward(
        self, request: PartnerRequest, route: PartnerRoute, key: CachedKey, upstream: str = ""
    ) -> UpstreamResponse:
        headers = [
            (CALLER_HEADER, self._key_cache.signed_caller(key, route.owner)),
            (REQUEST_ID_HEADER, request.id.encode()),
        ]
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
            response = await self._upstreams[upstream or route.owner].request(
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
        if response.status == 401:
            # A service rejected our signature: keys or clocks differ. That is not the partner's fault.
            log.error("service_refused_the_gateway", owner=route.owner, request_id=request.id)
            raise Unavailable
        response.headers = [header for header in response.headers if header[0] not in NOT_RETURNED]
        return response

    async def _charge(self, request: PartnerRequest, cost: int) -> None:
        """For a body whose size was not known before."""
        bucket = request.bucket
        assert bucket is not None
        if not bucket.take(time.monotonic(), cost) and not await self._limits.take_more(bucket, cost):
            raise RateLimited(bucket.retry_after(cost))

    async def _send(self, send: Send, request: PartnerRequest, response: UpstreamResponse) -> None:
        headers: Headers = response.headers
        headers.append((b"x-request-id", request.id.encode()))
        headers.append(VERSION)
        if request.bucket is not None:
            headers += request.bucket.headers()
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": response.body, "more_body": False})


def _as_forwarded(response: Response) -> UpstreamResponse:
    """The gateway's own response, as one that a service gave."""
    headers = [(b"content-type", response.content_type), *response.headers]
    if response.status != 304:
        headers.append((b"content-length", b"%d" % len(response.body)))
    return UpstreamResponse(response.status, headers, response.body)
