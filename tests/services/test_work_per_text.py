"""Work per text is linear in its size: every field of every route and every import line, by CPU time.

The routes run in this process up to their first statement: their database is away. Answers to a form are in
`forms/rules/test_cost_per_answer.py`, headers and whole systems in `gateway/test_bounded_work.py`.
"""

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast, get_args
from urllib.parse import urlencode

import msgspec
import pytest
from msgspec import Raw

from services.bookings.actions import import_lines as bookings_import
from services.bookings.app import routes as bookings_routes
from services.bookings.context import Bookings
from services.catalog import actions as catalog_import
from services.catalog.app import routes as catalog_routes
from services.catalog.context import Catalog
from services.forms.actions import import_lines as forms_import
from services.forms.app import routes as forms_routes
from services.forms.context import Forms
from services.gateway.actions.import_lines import OWNERS, read_import_line, validate_studios
from services.gateway.context import OperatorContext
from services.gateway.routes import own_routes
from services.gateway.routes.operator import port as table
from services.gateway.routes.own_routes import KeyContext
from services.gateway.wire.studio import StudioLine
from services.webhooks.app import routes as webhooks_routes
from services.webhooks.context import Webhooks
from services.webhooks.rules.urls import UrlPolicy
from shared.background import Wakeup
from shared.errors import DomainError
from shared.http.caller import Caller
from shared.http.error_mapping import response_for
from shared.http.routes import NoQuery, Route
from shared.routing import ROUTES, SCOPES
from shared.transfer.importing import Import, import_lines
from shared.transfer.lines import ImportLine
from tests.harness.text_places import (
    ID,
    Cases,
    Hostile,
    cpu_seconds,
    filled,
    parameters_of,
    plain_object,
    too_dear,
)


class DatabaseIsAway(Exception):
    """Everything before the first statement is done."""


class Away:
    def __getattr__(self, name: str) -> Any:
        raise DatabaseIsAway


AWAY: Any = Away()
CONTEXTS: dict[str, Any] = {
    "catalog": Catalog(AWAY, Wakeup()),
    "bookings": Bookings(db=AWAY, wakeup=Wakeup()),
    "forms": Forms(AWAY, Wakeup()),
    "webhooks": Webhooks(AWAY, AWAY, Wakeup(), Wakeup(), Wakeup(), AWAY, UrlPolicy(), AWAY),
    "gateway": OperatorContext(AWAY, AWAY, ("",), AWAY, {}, {}),
    "key": KeyContext(AWAY, ("",), None, {}, {}, cast(Any, SimpleNamespace(session_id=""))),
}
SERVICE_ROUTES: dict[str, list[Route[Any]]] = {
    "catalog": catalog_routes(),
    "bookings": bookings_routes(),
    "forms": forms_routes(),
    "webhooks": webhooks_routes(),
    "gateway": table.routes(),
    "key": list(own_routes.ROUTES),
}


def has_twin(route: Route[Any], routes: list[Route[Any]]) -> bool:
    """Whether partners call the same handler."""
    return route.staff and any(other.handler is route.handler and not other.staff for other in routes)


ALL_ROUTES = [
    pytest.param(service, route, id=f"{service} {route.method} {route.path}")
    for service, routes in SERVICE_ROUTES.items()
    for route in routes
    # Only the gateway calls internal routes, with bodies of its own.
    if not route.internal and not has_twin(route, routes)
]
IMPORTS: dict[str, Import] = {
    "catalog": catalog_import.IMPORT,
    "bookings": bookings_import.IMPORT,
    "forms": forms_import.IMPORT,
}
LINES = [
    pytest.param(service, kind, id=f"{service} {kind.__struct_config__.tag}")
    for service, plan in IMPORTS.items()
    for kind in get_args(plan.lines)
]


class Requester:
    """Calls a route as its service does, up to the first statement."""

    def __init__(self, service: str, route: Route[Any]) -> None:
        self._context = CONTEXTS[service]
        self._route = route
        partners = service != "gateway" and not route.staff
        self._caller = Caller(
            studio_id=ID, scopes=frozenset(SCOPES), actor="client" if partners else "operator"
        )
        self._path = dict.fromkeys(parameters_of(route.path), ID)

    async def send(self, request: dict[str, Any]) -> None:
        body = request.get("body", b"")
        headers = [(b"content-type", b"application/json")]
        # With a key, the first statement claims it: before anything that a body costs.
        if self._route.idempotent or "key" in request:
            headers.append((b"idempotency-key", request.get("key", b"1" * 8)))
        scope = {
            "query_string": request.get("query", b""),
            "headers": headers,
            "path_params": self._path | request.get("path", {}),
        }

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        try:
            await self._route.respond(self._context, self._caller, scope, receive)
        except DomainError as problem:
            response_for(problem, ID)
        except (DatabaseIsAway, NotImplementedError):
            pass


def requests_of(route: Route[Any]) -> Cases:
    """Every part of a request to this route, with each of the texts."""

    def cases(text: Hostile, size: int) -> Iterator[tuple[str, dict[str, Any]]]:
        if route.body is not None:
            for place, value in filled(route.body, text, size):
                yield f"body{place}", {"body": msgspec.json.encode(value)}
        if route.query is not NoQuery:
            plain = plain_object(route.query)
            for field in msgspec.structs.fields(route.query):
                # A third, because a byte may become three.
                for place, value in filled(field.type, text, size // 3):
                    query = urlencode(plain | {field.encode_name: value}).encode()
                    yield f"query.{field.encode_name}{place}", {"query": query}
        for name in parameters_of(route.path):
            yield f"path.{name}", {"path": {name: text.of_bytes(size)}}
        if route.idempotent:
            yield "header", {"key": text.of_bytes(size).encode()}

    return cases


@pytest.mark.parametrize(("service", "route"), ALL_ROUTES)
async def test_a_text_in_any_field_of_any_route_costs_its_size(service: str, route: Route[Any]) -> None:
    """An email of 6 KB took 6.5 s. A text is refused for its length before anything else is done with it."""
    assert await too_dear(requests_of(route), Requester(service, route).send) == []


def test_no_route_of_the_partner_api_is_left_out() -> None:
    """The table above is the routing table's."""
    tried = {(route.method, route.path) for routes in SERVICE_ROUTES.values() for route in routes}
    assert {(route.method, route.path) for route in ROUTES} <= tried


def lines_with_texts(kind: Any) -> Cases:
    def cases(text: Hostile, size: int) -> Iterator[tuple[str, bytes]]:
        for place, value in filled(kind, text, size):
            yield place, msgspec.json.encode(value)

    return cases


async def import_line(service: str, raw: bytes) -> None:
    """As the gateway reads it and the service checks it."""
    read_import_line(1, raw, ID)
    line = ImportLine(1, ID, Raw(raw))
    with contextlib.suppress(DatabaseIsAway):
        await import_lines(CONTEXTS[service], IMPORTS[service], [line], send_events=True)


@pytest.mark.parametrize(("service", "kind"), LINES)
async def test_a_text_in_any_field_of_any_import_line_costs_its_size(service: str, kind: Any) -> None:
    """Lines are checked one after the other while other requests wait."""

    async def use(raw: bytes) -> None:
        await import_line(service, raw)

    assert await too_dear(lines_with_texts(kind), use) == []


async def test_a_text_in_a_studio_line_costs_its_size() -> None:
    """The gateway checks the whole line before any service stores it."""

    async def use(raw: bytes) -> None:
        with contextlib.suppress(DatabaseIsAway):
            await validate_studios(AWAY, [ImportLine(1, ID, Raw(raw))], {})

    assert await too_dear(lines_with_texts(StudioLine), use) == []


def test_no_kind_of_import_line_is_left_out() -> None:
    """The gateway's table names every kind."""
    kinds = [kind for plan in IMPORTS.values() for kind in get_args(plan.lines)]
    assert {str(kind.__struct_config__.tag) for kind in kinds} == set(OWNERS)


@pytest.mark.parametrize(
    ("service", "kind", "line"),
    [
        ("catalog", "location", {"name": "x", "timezone": "Europe/London"}),
        ("forms", "lead", {"email": "First.Last@studio.example"}),
        ("bookings", "member", {"email": "First.Last@studio.example"}),
        ("bookings", "member", {"phone": "+44 20 7946 0018"}),
    ],
    ids=str,
)
async def test_a_valid_line_costs_a_fraction_of_a_millisecond(
    service: str, kind: str, line: dict[str, Any]
) -> None:
    """Reading the time zones took 12 ms for each line, the email of a lead 0.5 ms."""
    raw = msgspec.json.encode({"object": kind, "id": ID} | line)

    async def use(count: int) -> None:
        for _ in range(count):
            await import_line(service, raw)

    await use(1)
    assert min([await cpu_seconds(use, 200) for _ in range(3)]) / 200 < 0.000_4
