"""Joins every row of the routing table with the route of the service that owns it, and names it."""

from typing import Any, Final

from msgspec import Struct

from services.bookings import app as bookings
from services.catalog import app as catalog
from services.forms import app as forms
from services.gateway.errors import SessionCannotMakeSessions
from services.gateway.wire.key import ConsoleSession, ConsoleSessionCreate, OwnKey
from services.gateway.wire.request import LoggedRequest, RequestsQuery
from services.webhooks import app as webhooks
from shared.http.pages import Page
from shared.http.routes import NoQuery, Route
from shared.routing import ROUTES, PartnerRoute

SPECIAL: Final = {
    ("GET", "/key"): "get_key",
    ("GET", "/studio"): "get_studio",
    ("GET", "/classes/{class_id}/spots"): "list_class_spots",
    ("POST", "/bookings/preview"): "preview_booking",
    ("DELETE", "/bookings/{booking_id}"): "cancel_booking",
    ("GET", "/bookings/{booking_id}/cancellation-preview"): "preview_cancellation",
    ("GET", "/waitlist/{waitlist_id}"): "get_waitlist_entry",
    ("POST", "/leads/{lead_id}/update"): "update_lead_by_post",
    ("POST", "/webhook-endpoints/{endpoint_id}/rotate-secret"): "rotate_webhook_secret",
    ("GET", "/webhook-endpoints/{endpoint_id}/recoveries/{recovery_id}"): "get_webhook_recovery",
    ("GET", "/webhook-endpoints/{endpoint_id}/deliveries"): "list_webhook_deliveries",
}
VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}


def operation_id(method: str, path: str) -> str:
    if (method, path) in SPECIAL:
        return SPECIAL[method, path]
    words = [part.replace("-", "_") for part in path.strip("/").split("/") if not part.startswith("{")]
    last = words[-1]
    if method == "GET":
        return f"get_{singular(last)}" if path.endswith("}") else f"list_{last}"
    if method == "POST" and len(words) > 1 and singular(last) == last:
        return f"{last}_{singular(words[-2])}"
    return f"{VERBS[method]}_{singular(last)}"


def singular(noun: str) -> str:
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if noun.endswith("sses"):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


async def _answered_by_the_gateway(context: Any, call: Any) -> Any:
    raise NotImplementedError


OWN_ROUTES: tuple[Route[Any], ...] = (
    Route(
        method="GET",
        path="/key",
        handler=_answered_by_the_gateway,
        summary="Read the key in use",
        description="The key's name, studio, scopes, locations, expiry and rate limit, without its secret.",
        answer=OwnKey,
        tag="Key",
    ),
    Route(
        method="GET",
        path="/requests",
        handler=_answered_by_the_gateway,
        summary="List your requests of the last seven days",
        description=(
            "The requests of your client's keys, newest first: method, route, status and duration, without "
            "bodies. They appear within seconds. Under high load some successful requests are not recorded."
        ),
        query=RequestsQuery,
        answer=Page[LoggedRequest],
        tag="Key",
    ),
    Route(
        method="POST",
        path="/console-sessions",
        handler=_answered_by_the_gateway,
        summary="Create a link into the console",
        description=(
            "A link for a person's browser, so that the key stays on your server. It works once, within ten "
            "minutes, and opens a session with the key's scopes or some of them. Revoking the key ends the "
            "session. A session shares the client's rate limit and cannot create sessions."
        ),
        body=ConsoleSessionCreate,
        optional_body=True,
        answer=ConsoleSession,
        status=201,
        errors=(SessionCannotMakeSessions,),
        tag="Key",
    ),
)


class Operation(Struct, frozen=True):
    """One method of one path."""

    id: str
    row: PartnerRoute
    route: Route[Any]

    @property
    def method(self) -> str:
        return self.row.method

    @property
    def path(self) -> str:
        return self.row.path

    @property
    def scope(self) -> str:
        return self.row.scope

    @property
    def tag(self) -> str:
        if self.route.tag or not self.path.startswith("/webhook-"):
            return self.route.tag or self.path.split("/")[1].replace("-", " ").capitalize()
        return "Webhooks"

    @property
    def types(self) -> list[Any]:
        """The types that need a schema."""
        route = self.route
        query = [] if route.query is NoQuery else [route.query]
        return query + [kind for kind in (route.body, route.answer) if kind is not None]


def partner_routes() -> dict[tuple[str, str], Route[Any]]:
    """The services' routes for partners, by method and path, without staff and internal routes."""
    found = {(route.method, route.path): route for route in OWN_ROUTES}
    for routes in (catalog.routes(), bookings.routes(), forms.routes(), webhooks.routes()):
        for route in routes:
            if not route.staff and not route.internal:
                found[route.method, route.path] = route
    return found


def operations() -> list[Operation]:
    """In the order of the routing table."""
    routes = partner_routes()
    return [
        Operation(operation_id(row.method, row.path), row, routes[row.method, row.path])
        for row in ROUTES
        if (row.method, row.path) in routes
    ]
