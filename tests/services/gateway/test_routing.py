"""The routing table: every row is refused without a key, and a path has one spelling."""

import re

import pytest

from shared.routing import ROUTES, PartnerRoute
from shared.wire import new_id
from tests.harness.system import System


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
async def test_every_route_refuses_a_missing_key(system: System, route: PartnerRoute) -> None:
    """No route of the partner API is public: 401 comes before any lookup."""
    answer = await system.anyone.send(route.method, re.sub(r"\{\w+\}", lambda _: new_id(), route.path))
    assert (answer.status, answer.code) == (401, "missing_api_key")
    assert "X-Service-Key" in answer.headers["WWW-Authenticate"]


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
