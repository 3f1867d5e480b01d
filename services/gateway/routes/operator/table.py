"""The routes of the operators' API, each with its handler: the gateway's own, and those of the services."""

from services.gateway.access import OperatorAccess
from services.gateway.context import OperatorContext
from services.gateway.routes.operator import (
    audit,
    console_links,
    erasure,
    keys,
    sequences,
    staff_tokens,
    status,
    usage,
)
from services.gateway.routes.operator.exports import ExportStream
from services.gateway.routes.operator.imports import ImportStream
from services.gateway.routes.operator.staff import StaffForwarder
from shared.http.asgi import ASGIApp
from shared.http.routes import Route
from shared.http.service import RouteHandler
from shared.routing import OPERATOR_PREFIX, STAFF_ROUTES, OperatorRoute


def routes() -> list[Route[OperatorContext]]:
    return [
        *keys.ROUTES,
        *audit.ROUTES,
        *usage.ROUTES,
        *console_links.ROUTES,
        *staff_tokens.ROUTES,
        *erasure.ROUTES,
        *sequences.ROUTES,
        *status.ROUTES,
    ]


def operator_handlers(context: OperatorContext, access: OperatorAccess) -> dict[OperatorRoute, ASGIApp]:
    owners = {route.owner for route in STAFF_ROUTES}
    staff = {owner: StaffForwarder(context, access, owner) for owner in owners}
    return {
        **{
            OperatorRoute(route.method, route.path.removeprefix(OPERATOR_PREFIX)): RouteHandler(
                "operator", context, route, access
            )
            for route in routes()
        },
        OperatorRoute("POST", "/import"): ImportStream(context, access),
        OperatorRoute("GET", "/export"): ExportStream(context, access),
        **{route: staff[route.owner] for route in STAFF_ROUTES},
    }
