"""The operators' port: what is served without a token, and the operators' API below its prefix.

The route is found once, in the raw path. It says who does the work and what the audit log is told.
"""

import time
from collections.abc import Mapping

from services.gateway.access import OperatorAccess
from services.gateway.context import OperatorContext
from services.gateway.errors import BadOperatorToken
from services.gateway.routes.operator import keys, status, transfer
from services.gateway.routes.operator.audit_trail import AuditTrail
from services.gateway.routes.operator.staff_forwarder import StaffForwarder
from services.gateway.routes.static_files import only_read, page_files, redirect, static_file, text_of
from services.gateway.rules.rate_limit import FailedKeyLimits
from services.gateway.store import studios
from shared.db.database import Database
from shared.errors import NotFound, RateLimited, UnsupportedApiVersion
from shared.http.asgi import ASGIApp, Receive, Scope, Send
from shared.http.caller import Caller
from shared.http.client_address import TrustedProxies, address_of
from shared.http.route_table import RouteTable
from shared.http.routes import Route
from shared.http.service import CALLER, Responder, RouteHandler, raw_path_of, refuse
from shared.routing import OPERATOR_PREFIX, STAFF_ROUTES, OperatorRoute
from shared.wire import API_VERSION


class OperatorPort:
    """Guesses at a token are limited per address: a short burst, then one per second. A valid token is never
    refused, even if others guess from the same address."""

    def __init__(
        self,
        public: Mapping[str, ASGIApp],
        handlers: Mapping[OperatorRoute, ASGIApp],
        access: OperatorAccess,
        db: Database,
        proxies: TrustedProxies,
        failed: FailedKeyLimits,
    ) -> None:
        self._public = {path.encode(): app for path, app in public.items()}
        self._handlers = handlers
        self._table = RouteTable(handlers, OPERATOR_PREFIX)
        self._audit = AuditTrail(db)
        self._access = access
        self._db = db
        self._proxies = proxies
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        public = self._public.get(raw_path_of(scope))
        if public is not None:
            await public(scope, receive, send)
            return
        started = time.perf_counter()
        try:
            caller, route = await self._checked(scope)
        except Exception as problem:
            await refuse("operator", problem, scope, send, started)
            return
        handler = self._handlers[route]
        scope[CALLER] = caller
        if route.is_write:
            await self._audit.recorded(route, caller, handler, scope, receive, send)
        else:
            await handler(scope, receive, send)

    async def _checked(self, scope: Scope) -> tuple[Caller, OperatorRoute]:
        path, headers = raw_path_of(scope), dict(scope["headers"])
        if not path.startswith(f"{OPERATOR_PREFIX}/".encode()):
            raise NotFound
        address, at = address_of(scope, headers, self._proxies), time.monotonic()
        caller = await self._access.recognise(headers, batched=self._failed.is_exhausted(address, at))
        if caller is None:
            wait = self._failed.take(address, at)
            raise BadOperatorToken if wait is None else RateLimited(wait)
        route = self._table.find(str(scope.get("method")), path)
        parameters = scope["path_params"] = self._table.parameters(route, path)
        if caller.studio_id and "studio" in parameters:
            # For staff another studio does not exist, whatever role its route would need.
            async with self._db.connection() as conn:
                await studios.find_for(conn, caller, parameters["studio"])
        if headers.get(b"x-api-version", API_VERSION.encode()) != API_VERSION.encode():
            raise UnsupportedApiVersion([API_VERSION])
        return caller, route


# The routes of the operators' API, each with its handler: the gateway's own, and those of the services.
def routes() -> list[Route[OperatorContext]]:
    return [*keys.ROUTES, *status.ROUTES, *transfer.ROUTES]


def operator_handlers(context: OperatorContext) -> dict[OperatorRoute, ASGIApp]:
    answered: list[tuple[OperatorRoute, Responder]] = [
        (OperatorRoute(route.method, route.path.removeprefix(OPERATOR_PREFIX)), route) for route in routes()
    ]
    answered += [(route, StaffForwarder(route)) for route in STAFF_ROUTES]
    return {route: RouteHandler("operator", context, response) for route, response in answered}


# What the operators' port serves without a token: the document, the reference and the console's page.
OPENAPI = "/operator/v1/openapi.json"


def pages() -> dict[str, ASGIApp]:
    files = {
        "/": redirect("/console"),
        OPENAPI: static_file("operators.json", b"application/json"),
        **page_files(
            "docs",
            "reference.html",
            title="Studio operators' API: reference",
            brand="Operators' API",
            document=OPENAPI,
            download="operators.json",
            content=text_of("docs/operators.html"),
        ),
        **page_files("console", "console.html", title="Operators' console", module="operators.js"),
    }
    return {path: only_read(page) for path, page in files.items()}
