"""One service as an ASGI app: its routes, which require a signed caller, plus health and metrics."""

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, Protocol, TypeVar, cast

import msgspec
import structlog
from msgspec import Struct

from shared.errors import DomainError, InsufficientScope, Unavailable
from shared.events.bus import Bus
from shared.http.asgi import ASGIApp, Receive, Scope, Send
from shared.http.caller import REQUEST_ID_HEADER, Caller, CallerVerifier
from shared.http.error_mapping import response_for
from shared.http.health import Check as Check
from shared.http.health import health_of
from shared.http.response import Response, with_entity_tag
from shared.http.route_table import Routed, RouteTable
from shared.http.routes import Route
from shared.observability import metrics, tracing
from shared.observability.log import RequestLine, log_line
from shared.observability.metrics import RouteMetrics
from shared.routing import PartnerRoute, partner_route
from shared.settings import Settings
from shared.wire import API_VERSION, encode, new_id, new_request_id

C = TypeVar("C")
LIVE = b'{"status":"ok"}'
# In the scope of a request whose caller is known already.
CALLER = "studio.caller"
_VALID_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}\Z")


class Service(Struct, Generic[C]):
    """What a service's `open_service` yields. `checks` are the readiness checks by name."""

    name: str
    context: C
    app: ASGIApp
    checks: Mapping[str, Check]


OpenService = Callable[[Settings, Bus], AbstractAsyncContextManager[Service[Any]]]


def build_service(
    name: str, context: C, routes: list[Route[C]], *, verifier: CallerVerifier, checks: Mapping[str, Check]
) -> Service[C]:
    """Every route that is neither for staff nor internal must be in the routing table, and the caller needs
    its scope: bypassing the gateway does not help."""
    handlers = [
        RouteHandler(
            name,
            context,
            route,
            verifier,
            access=None if route.staff or route.internal else partner_route(route.method, route.path),
        )
        for route in routes
    ]
    app = _ServiceApp(name, RouteTable(handlers, ""), health_routes(checks))
    return Service(name=name, context=context, app=app, checks=checks)


class _ServiceApp:
    def __init__(
        self, service: str, table: "RouteTable[RouteHandler]", health: Mapping[str, ASGIApp]
    ) -> None:
        self._service = service
        self._table = table
        self._health = {path.encode(): app for path, app in health.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = raw_path_of(scope)
        if (health := self._health.get(path)) is not None:
            await health(scope, receive, send)
            return
        started = time.perf_counter()
        try:
            handler = self._table.find(str(scope.get("method")), path)
        except DomainError as problem:
            await refuse(self._service, problem, scope, send, started)
            return
        scope["path_params"] = self._table.parameters(handler, path)
        await handler(scope, receive, send)


class Responder(Routed, Protocol):
    """What a `Route` is to its handler."""

    @property
    def tagged(self) -> bool: ...

    async def respond(self, context: Any, caller: Caller, scope: Scope, receive: Receive) -> Response: ...


class RouteHandler:
    """One route: verify the caller, call the route, turn errors into responses.

    Without a `verifier` the port has put the caller into the request's scope. `access` says what a partner's
    key needs; an operators' own route has none.
    """

    def __init__(
        self,
        service: str,
        context: Any,
        route: Responder,
        verifier: CallerVerifier | None = None,
        *,
        access: PartnerRoute | None = None,
    ) -> None:
        self.method = route.method
        self.path = route.path
        self._service = service
        self._context = context
        self._route = route
        self._verifier = verifier
        self._access = access
        self._metrics = RouteMetrics(service, route.method, route.path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        headers: dict[bytes, bytes] = dict(scope["headers"])
        request_id = valid_request_id(headers.get(REQUEST_ID_HEADER))
        caller = span = None
        try:
            if self._verifier is not None:
                caller = self._verifier.verify(headers, request_id)
            else:
                caller = cast(Caller, scope[CALLER]).with_request_id(request_id)
            if self._access is not None and (missing := self._access.missing_scope(caller.scopes)):
                raise InsufficientScope(missing, caller.scopes)
            span = tracing.begin(f"{self.method} {self.path}", caller.traceparent, "server")
            if span is not None:
                caller = msgspec.structs.replace(caller, traceparent=span.traceparent)
            response = await self._route.respond(self._context, caller, scope, receive)
            # Only partners get tags: the gateway would drop them from responses to staff.
            if response.status == 200 and self.method == "GET" and self._access and self._route.tagged:
                response = with_entity_tag(response, scope["headers"])
        except Exception as problem:
            with structlog.contextvars.bound_contextvars(request_id=request_id, service=self._service):
                response = response_for(problem, request_id)
        await send_response(send, response, request_id)
        seconds = time.perf_counter() - started
        self._metrics.observe(response.status, seconds)
        if span is not None:
            span.end(failed=response.status >= 500, http__response__status_code=response.status)
        traceparent = caller.traceparent if caller else None
        log_response(
            self._service, self.method, self.path, response.status, seconds, request_id, caller, traceparent
        )


async def refuse(service: str, problem: Exception, scope: Scope, send: Send, started: float) -> None:
    """A request that no route takes."""
    request_id = request_id_of(scope)
    response = response_for(problem, request_id)
    await send_response(send, response, request_id)
    seconds = time.perf_counter() - started
    log_response(service, str(scope.get("method")), None, response.status, seconds, request_id)


def log_response(
    service: str,
    method: str,
    route: str | None,
    status: int,
    seconds: float,
    request_id: str,
    caller: Caller | None = None,
    traceparent: str | None = None,
) -> None:
    log_line(
        RequestLine(
            service=service,
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 2),
            request_id=request_id,
            trace_id=tracing.trace_id_of(traceparent),
            studio_id=caller.studio_id if caller else None,
            client_id=caller.client_id if caller else None,
            key_id=caller.key_id if caller else None,
        )
    )


def valid_request_id(raw: bytes | None) -> str:
    """The caller's own id if it sent a valid one, otherwise a new one."""
    return raw.decode() if raw and _VALID_REQUEST_ID.match(raw) else new_request_id()


def response_headers(response: Response, size: int | None, request_id: str) -> list[tuple[bytes, bytes]]:
    """`size` is None for a response that is sent while it is read."""
    headers = [
        (b"content-type", response.content_type),
        (b"content-length", b"%d" % (size or 0)),
        (b"x-request-id", request_id.encode()),
        (b"x-api-version", API_VERSION.encode()),
        *response.headers,
    ]
    if size is None or response.status in (204, 304):
        del headers[1]
    return headers[1:] if response.status == 204 else headers


async def send_response(send: Send, response: Response, request_id: str) -> None:
    rest = response.rest
    headers = response_headers(response, len(response.body) if rest is None else None, request_id)
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": rest is not None})
    if rest is not None:
        async for part in rest:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def send_error(send: Send, problem: Exception, scope: Scope) -> None:
    request_id = request_id_of(scope)
    await send_response(send, response_for(problem, request_id), request_id)


def always(response: Callable[[], Awaitable[Response]]) -> ASGIApp:
    """An app with the same response to every request."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send_response(send, await response(), request_id_of(scope))

    return app


def health_routes(checks: Mapping[str, Check]) -> dict[str, ASGIApp]:
    """Readiness is 200 `ready`, 200 `degraded` if only optional checks fail, otherwise 503 `not_ready`."""

    async def live() -> Response:
        return Response(LIVE)

    async def ready() -> Response:
        health = await health_of(checks)
        return Response(encode(health), 503 if health.status == "not_ready" else 200)

    async def exposition() -> Response:
        return Response(metrics.exposition(), content_type=metrics.CONTENT_TYPE)

    return {"/health/live": always(live), "/health/ready": always(ready), "/metrics": always(exposition)}


def raw_path_of(scope: Scope) -> bytes:
    """As the client sent it, so that no two readers of a path can take it for different ones."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw


def request_id_of(scope: Scope) -> str:
    return valid_request_id(dict(scope["headers"]).get(REQUEST_ID_HEADER))


# Answers on the port while the service starts: live, not ready, with the parts it waits for.
#
# A probe that finds no listener cannot tell a slow migration from a dead process, and restarts the pod.
class StartupPlaceholder:
    """An ASGI app that is replaced by `become`; `waiting_for` has the state of each part."""

    def __init__(self, waiting_for: Mapping[str, str]) -> None:
        self._waiting_for = waiting_for
        self._app: ASGIApp = self._wait

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return self._app(scope, receive, send)

    def become(self, app: ASGIApp) -> None:
        self._app = app

    async def _wait(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = new_id()
        await send_response(send, self._response(scope["path"], request_id), request_id)

    def _response(self, path: str, request_id: str) -> Response:
        if path == "/health/live":
            return Response(LIVE)
        if path == "/health/ready":
            return Response(encode({"status": "waiting", "parts": dict(self._waiting_for)}), 503)
        starting = Unavailable("The service is starting; try again in a moment.", retry_after=1)
        return response_for(starting, request_id)
