"""Every operation of the operators' API, read from the routes that answer it, so that none is missing."""

from typing import Any

from msgspec import Struct, structs

from services.bookings import app as bookings
from services.catalog import app as catalog
from services.cli.openapi.descriptions.operators import OPERATIONS
from services.cli.openapi.operations import operation_id
from services.forms import app as forms
from services.gateway.routes.operator import port as table
from services.gateway.routes.operator.exports import ExportOf
from services.gateway.routes.operator.imports import ImportAnswer, ImportQuery
from services.webhooks import app as webhooks
from shared.errors import NotFound
from shared.http.routes import NoQuery, Route
from shared.routing import OF_A_STUDIO, OPERATOR_PREFIX, STAFF_ROUTES

STAFF = "/staff"
NDJSON = "application/x-ndjson"
_FORWARDED = {(route.method, route.path) for route in STAFF_ROUTES}

TAGS = {
    "Studios": "Studios, and the keys and clients of their partners.",
    "Staff tokens": "Tokens of a studio's staff.",
    "Import": "Importing and exporting a studio's data.",
    "System": "The state of the services, the queues, and what a restore needs.",
    "People": "Erasing a person's data.",
    "Schedule": "Classes of a studio.",
    "Bookings": "Rosters, check-in and cancellations.",
    "Waitlist": "Members who are waiting for a seat.",
    "Members": "Members and memberships.",
    "Purchases": "What members bought.",
    "Staff": "What a desk changes.",
    "Forms": "Forms of a studio.",
    "Form submissions": "Answers to forms, and their review.",
    "Leads": "Leads with phone and notes.",
    "Webhooks": "Endpoints, deliveries and events of a studio.",
}
_TAG_BY_NOUN = {
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
    "events": "Webhooks",
}


async def _streamed(context: Any, call: Any) -> Any:
    raise NotImplementedError


IMPORT: Route[Any] = Route(
    method="POST",
    path="/import",
    handler=_streamed,
    summary="Import NDJSON of any size",
    description=(
        "One resource per line, as the API returns it; `object` names its kind. Good lines are stored if "
        "others are bad. Each bad line is reported by number and reason."
    ),
    query=ImportQuery,
    answer=ImportAnswer,
    errors=(NotFound,),
    role="manager",
)


EXPORT: Route[Any] = Route(
    method="GET",
    path="/export",
    handler=_streamed,
    summary="Export a studio as NDJSON",
    description=(
        "Import lines of everything in the studio, in an order that can be imported, including credits, "
        "charges, receipts and versions. Keys, endpoints and events are not exported. With `member_id`, only "
        "what is stored about that person. The response is complete only if its last chunk arrives."
    ),
    query=ExportOf,
    answer=str,
    errors=(NotFound,),
    role="manager",
)


class OperatorOperation(Struct, frozen=True):
    id: str
    route: Route[Any]

    @property
    def tag(self) -> str:
        return self.route.tag or _TAG_BY_NOUN.get(_noun(self.route.path), "System")

    @property
    def description(self) -> str:
        return self.route.description or OPERATIONS[self.id]

    @property
    def types(self) -> list[Any]:
        route = self.route
        queries = [] if route.query is NoQuery else [route.query]
        return queries + [kind for kind in (route.body, route.answer) if kind is not None]


def _noun(path: str) -> str:
    return path.removeprefix(OF_A_STUDIO).strip("/").split("/")[0] or "studios"


def operator_operations() -> list[OperatorOperation]:
    own = [structs.replace(route, path=route.path.removeprefix(OPERATOR_PREFIX)) for route in table.routes()]
    staff = [
        structs.replace(route, path=reached_at(route.method, route.path))
        for routes in (catalog.routes(), bookings.routes(), forms.routes(), webhooks.routes())
        for route in routes
        if route.staff
    ]
    return [OperatorOperation(_id_of(route), route) for route in (*own, IMPORT, EXPORT, *staff)]


def reached_at(method: str, path: str) -> str:
    """The path at which the gateway serves a staff route."""
    below = path.removeprefix(STAFF)
    for served in (OF_A_STUDIO + below, below):
        if (method, served) in _FORWARDED:
            return served
    raise ValueError(f"{method} {path} is not in the routing table")


def _id_of(route: Route[Any]) -> str:
    below = route.path.removeprefix(OF_A_STUDIO) or route.path
    if route.path == OF_A_STUDIO:
        return "get_studio"
    if route.path.endswith("/position"):
        return "get_event_position"
    if route.path in ("/status", "/import") or route.path.endswith("/requeue"):
        return {"/status": "get_status", "/import": "import_lines"}.get(route.path, "requeue_parked")
    return operation_id(route.method, below)
