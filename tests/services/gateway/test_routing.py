"""The routing table: every row is refused without a key, without its scope, and for another studio's id."""

import re

import pytest

from shared.routing import ANY_KEY, ROUTES, SCOPES, PartnerRoute
from shared.wire import new_id
from tests.harness.system import System

ALL = pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
# A body that is valid enough for each write to look up its path. Routes without an id need none.
BODIES: dict[str, object] = {
    "PUT /forms/{form_id}": {"title": "New"},
    "POST /forms/{form_id}/evaluate": {"data": {}},
    "POST /forms/{form_id}/submissions": {"submitter_email": "a@example.com", "data": {}},
    "PATCH /leads/{lead_id}": {"first_name": "A"},
    "POST /leads/{lead_id}/update": {"first_name": "A"},
    "PATCH /webhook-endpoints/{endpoint_id}": {"description": "x"},
    "POST /webhook-endpoints/{endpoint_id}/recover": {"since": "2026-01-01T00:00:00Z"},
}


def filled(path: str) -> str:
    return re.sub(r"\{\w+\}", lambda _: new_id(), path)


@ALL
async def test_every_route_refuses_a_missing_key(system: System, route: PartnerRoute) -> None:
    """No route of the partner API is public: 401 comes before any lookup."""
    answer = await system.anyone.send(route.method, filled(route.path))
    assert (answer.status, answer.code) == (401, "missing_api_key")
    assert "X-Service-Key" in answer.headers["WWW-Authenticate"]


@ALL
async def test_every_route_refuses_a_key_without_its_scope(system: System, route: PartnerRoute) -> None:
    """A key with every scope except the required one is refused, and the answer names it."""
    others = [scope for scope in SCOPES if scope != route.scope]
    answer = await system.partner(await system.key(others)).send(route.method, filled(route.path))
    if route.scope == ANY_KEY:
        assert answer.status == (201 if route.method == "POST" else 200)
        return
    assert (answer.status, answer.code) == (403, "insufficient_scope")
    details = answer.json()["error"]["details"]
    assert details == {"required_scope": route.scope, "granted_scopes": sorted(others)}


@pytest.mark.parametrize(
    "route",
    [route for route in ROUTES if "_id}" in route.path],
    ids=lambda route: f"{route.method} {route.path}",
)
async def test_every_route_answers_404_for_an_id_it_does_not_have(
    system: System, route: PartnerRoute
) -> None:
    """An id of another studio does not exist: the owner binds the studio in every query."""
    client = system.partner(await system.key())
    answer = await client.send(
        route.method,
        filled(route.path),
        BODIES.get(f"{route.method} {route.path}"),
        headers={"Idempotency-Key": new_id()},
    )
    assert (answer.status, answer.code) == (404, "not_found"), answer.body


def test_a_route_without_a_scope_does_not_construct() -> None:
    """A new route must declare its scope."""
    with pytest.raises(ValueError, match="names no known scope"):
        PartnerRoute("GET", "/new", "", "catalog")


async def test_an_encoded_letter_is_the_letter(system: System) -> None:
    """The gateway finds the route that the owner will find: `preview` is a word, however it is spelled."""
    client = system.partner(await system.key())
    for path in ("/bookings/preview", "/bookings/%70review"):
        answer = await client.send("DELETE", path, headers={"Idempotency-Key": new_id()})
        assert (answer.status, answer.headers["Allow"]) == (405, "POST"), path
        assert (await client.post(path, {})).status == 422


@pytest.mark.parametrize(
    "path",
    [
        "//console/session",
        "/console//session",
        "/console%2Fsession",
        "/console/session/",
        "/%63onsole/session",
        "//health/live",
        "/health/live/",
    ],
)
async def test_a_public_path_has_one_spelling(system: System, path: str) -> None:
    """On both ports, which take nothing for what it is not."""
    for url in (system.running.partner_url, system.running.operator_url):
        answer = await system.client(url, {}).send("POST", path, {"token": "x"})
        assert (answer.status, answer.code) == (404, "not_found")
