"""Each service checks the scope itself: a way past the gateway leads nowhere."""

from importlib import import_module
from typing import Any

import pytest

from shared.http.caller import Caller, CallerVerifier
from shared.http.routes import Route
from shared.http.service import build_service
from shared.routing import GATEWAY, ROUTES, SCOPES, PartnerRoute
from shared.wire import new_id
from tests.harness.asgi import ask

OWNED = [route for route in ROUTES if route.owner != GATEWAY]


class Anyone(CallerVerifier):
    """Lets a request in with the scopes that its header names."""

    def verify(self, headers: Any, request_id: str) -> Caller:
        return Caller(studio_id=new_id(), scopes=frozenset(headers[b"scopes"].decode().split()))


class HandlerCalled(Exception):
    """The context was used: the request got past the check."""


class Context:
    def __getattr__(self, name: str) -> Any:
        raise HandlerCalled


def routes_of(route: PartnerRoute) -> list[Route[Any]]:
    found: list[Route[Any]] = import_module(f"services.{route.owner}.app").routes()
    return found


async def status_of(route: PartnerRoute, scopes: set[str]) -> int:
    service = build_service(route.owner, Context(), routes_of(route), verifier=Anyone(()), checks={})
    path = "/".join(new_id() if part.startswith("{") else part for part in route.path.split("/"))
    return int((await ask(service.app, route.method, path, {"Scopes": " ".join(scopes)}))["status"])


@pytest.mark.parametrize("route", OWNED, ids=lambda route: f"{route.method} {route.path}")
async def test_a_service_refuses_a_caller_without_the_routes_scope(route: PartnerRoute) -> None:
    """The scope is the one of the routing table, and those that the route needs, too."""
    (own,) = [one for one in routes_of(route) if (one.method, one.path) == (route.method, route.path)]
    assert await status_of(route, set(SCOPES) - {route.scope, route.or_scope}) == 403
    assert await status_of(route, {route.scope, *own.also_needs}) != 403
    for scope in own.also_needs:
        assert await status_of(route, set(SCOPES) - {scope}) == 403
    if route.or_scope:
        assert await status_of(route, {route.or_scope}) != 403


async def test_a_route_that_is_not_in_the_table_does_not_start() -> None:
    """Whoever adds a route to a service writes it on the routing table."""

    async def handler(context: object, call: object) -> None:
        return None

    route: Route[object] = Route(method="GET", path="/new", handler=handler, summary="New", response=None)
    with pytest.raises(ValueError, match="GET /new is not in the routing table"):
        build_service("catalog", object(), [route], verifier=Anyone(()), checks={})
