"""Every operation of both documents, read from the routes that serve it, so that none is missing."""

from typing import Any, Final

from msgspec import Struct, structs

from services.bookings import app as bookings
from services.catalog import app as catalog
from services.cli.openapi.schemas import OPERATORS, PARTNERS
from services.forms import app as forms
from services.gateway.routes import own_routes
from services.gateway.routes.operator import port as table
from services.webhooks import app as webhooks
from shared.errors import DomainError, InsufficientScope
from shared.http.caller import InsufficientRole
from shared.http.routes import NoQuery, Route
from shared.routing import ANY_KEY, OF_A_STUDIO, OPERATOR_PREFIX, ROUTES, STAFF_ROUTES, PartnerRoute

Json = dict[str, Any]
STAFF: Final = "/staff"

# Where the rule below does not give a good name.
SPECIAL: Final = {
    ("GET", "/key"): "get_key",
    ("GET", "/studio"): "get_studio",
    ("GET", "/requests/counts"): "get_request_counts",
    ("GET", "/classes/{class_id}/spots"): "list_class_spots",
    ("POST", "/bookings/preview"): "preview_booking",
    ("DELETE", "/bookings/{booking_id}"): "cancel_booking",
    ("GET", "/bookings/{booking_id}/cancellation-preview"): "preview_cancellation",
    ("POST", "/bookings/{booking_id}/reschedule/preview"): "preview_reschedule",
    ("GET", "/waitlist/{waitlist_id}"): "get_waitlist_entry",
    ("POST", "/leads/{lead_id}/update"): "update_lead_by_post",
    ("POST", "/webhook-endpoints/{endpoint_id}/rotate-secret"): "rotate_webhook_secret",
    ("GET", "/webhook-endpoints/{endpoint_id}/recoveries/{recovery_id}"): "get_webhook_recovery",
    ("GET", "/webhook-endpoints/{endpoint_id}/deliveries"): "list_webhook_deliveries",
    ("GET", "/webhook-endpoints/{endpoint_id}/missed-events"): "count_missed_events",
    ("GET", "/webhook-health"): "list_webhook_health",
    # Of operators.
    ("GET", OF_A_STUDIO): "get_studio",
    ("GET", "/events/position"): "get_event_position",
    ("GET", "/status"): "get_status",
    ("GET", "/status/history"): "get_status_history",
    ("POST", "/bookings/{booking_id}/waive-fee"): "waive_fee",
    ("POST", "/waitlist/{waitlist_id}/promote"): "promote_waitlist_entry",
    ("POST", "/waitlist/{waitlist_id}/skip"): "skip_waitlist_entry",
    ("POST", "/import"): "import_lines",
    ("POST", "/queues/{queue}/parked/requeue"): "requeue_parked",
    ("POST", "/events/prune"): "prune_events",
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


class Operation(Struct, frozen=True):
    """One method of one path, as it is served."""

    id: str
    route: Route[Any]
    tag: str
    description: str
    # The scope or the role that it needs.
    access: Json
    access_errors: tuple[type[DomainError], ...]

    @property
    def types(self) -> list[Any]:
        """The types that need a schema."""
        route = self.route
        query = [] if route.query is NoQuery else [route.query]
        return query + [kind for kind in (route.body, route.response) if kind is not None]


def _service_routes() -> list[Route[Any]]:
    return [*catalog.routes(), *bookings.routes(), *forms.routes(), *webhooks.routes()]


def partner_routes() -> dict[tuple[str, str], Route[Any]]:
    """The routes for partners, by method and path, without staff and internal routes."""
    partners = [route for route in _service_routes() if not route.staff and not route.internal]
    return {(route.method, route.path): route for route in (*own_routes.ROUTES, *partners)}


def operations() -> list[Operation]:
    """The partners', in the order of the routing table."""
    routes = partner_routes()
    places = [(row, (row.method, row.path)) for row in ROUTES]
    return [_partner_operation(row, routes[place]) for row, place in places if place in routes]


def _partner_operation(row: PartnerRoute, route: Route[Any]) -> Operation:
    scopes = [] if row.scope == ANY_KEY else [row.scope, *route.also_needs]
    named = " and ".join(f"`{scope}`" for scope in scopes)
    required = f"Required scope{'s' if len(scopes) > 1 else ''}: {named}."
    needs = required if scopes else "Any valid key may call this."
    access: Json = {
        "security": [{"ServiceKey": scopes}, *([{"ServiceKey": [row.or_scope]}] if row.or_scope else [])],
        "x-required-scope": scopes[0] if scopes else None,
    }
    if row.or_scope:
        access["x-required-scopes"] = {"any": [row.scope, row.or_scope]}
    elif route.also_needs:
        access["x-required-scopes"] = {"all": scopes}
    noun = "webhooks" if row.path.startswith("/webhook-") else row.path.split("/")[1].replace("-", " ")
    known_id = _partner_id(row)
    about = route.description or PARTNERS["operations"].get(known_id)
    return Operation(
        id=known_id,
        route=route,
        tag=route.tag or noun.capitalize(),
        description="\n\n".join(part for part in (about, needs) if part),
        access=access,
        access_errors=(InsufficientScope,) if scopes else (),
    )


_OPERATOR_TAGS: Final = {
    "studios": "Studios",
    "clients": "Studios",
    "keys": "Studios",
    "usage": "Studios",
    "import": "Import",
    "export": "Import",
    "members": "People",
    "leads": "People",
    "webhook-endpoints": "Webhooks",
    "webhook-deliveries": "Webhooks",
    "webhook-health": "Webhooks",
    "events": "Webhooks",
}


def operator_operations() -> list[Operation]:
    own = [structs.replace(route, path=route.path.removeprefix(OPERATOR_PREFIX)) for route in table.routes()]
    staff = [
        structs.replace(route, path=reached_at(route.method, route.path))
        for route in _service_routes()
        if route.staff
    ]
    return [_operator_operation(route) for route in (*own, *staff)]


def _partner_id(route: PartnerRoute) -> str:
    # Those of an endpoint have the shorter name.
    is_of_event = (route.method, route.path) == ("GET", "/webhook-deliveries")
    return "list_deliveries_of_event" if is_of_event else operation_id(route.method, route.path)


def _operator_operation(route: Route[Any]) -> Operation:
    below = route.path.removeprefix(OF_A_STUDIO)
    known_id = operation_id(route.method, below or route.path)
    noun = below.strip("/").split("/")[0] or "studios"
    about = route.description or OPERATORS["operations"][known_id]
    return Operation(
        id=known_id,
        # Staff need a role instead of a key's scopes.
        route=structs.replace(
            route, errors=tuple(kind for kind in route.errors if kind is not InsufficientScope)
        ),
        tag=route.tag or _OPERATOR_TAGS.get(noun, "System"),
        description=f"{about}\n\nRequired role: `{route.role}`.",
        access={"x-required-role": route.role},
        access_errors=() if route.role == "staff" else (InsufficientRole,),
    )


def reached_at(method: str, path: str) -> str:
    """The path at which the gateway serves a staff route."""
    below = path.removeprefix(STAFF)
    forwarded = {(route.method, route.path) for route in STAFF_ROUTES}
    for served in (OF_A_STUDIO + below, below):
        if (method, served) in forwarded:
            return served
    raise ValueError(f"{method} {path} is not in the routing table")
