"""Paths find their routes with their parameters, and a body is read in bounded time."""

import asyncio
from typing import Any

import pytest
from msgspec import Struct

from shared.errors import Invalid, NotFound
from shared.http.route_table import RouteTable
from shared.http.routes import read_body


class Row(Struct, frozen=True):
    method: str
    path: str


PATHS = ("/classes", "/classes/{class_id}", "/classes/{class_id}/spots/{spot_id}", "/classes/mine")
TABLE = RouteTable([Row("GET", path) for path in PATHS], "/v1")


@pytest.mark.parametrize(
    ("path", "found", "parameters"),
    [
        (b"/v1/classes", "/classes", {}),
        (b"/v1/cl%61sses", "/classes", {}),
        (b"/v1/classes/mine", "/classes/mine", {}),
        (
            b"/v1/classes/7/spots/%41",
            "/classes/{class_id}/spots/{spot_id}",
            {"class_id": "7", "spot_id": "A"},
        ),
    ],
)
def test_a_path_finds_its_route(path: bytes, found: str, parameters: dict[str, str]) -> None:
    """A fixed word goes before a parameter."""
    route = TABLE.find("GET", path)
    assert route.path == found
    assert TABLE.parameters(route, path) == parameters


def test_another_spelling_is_another_path() -> None:
    """Nothing is merged or stripped, and an encoded slash separates nothing."""
    others = ("class", "classes/", "/classes", "classes/7/spots", "classes/7/spots/8/9", "classes/a%2Fb")
    for path in ("/", "/classes", *(f"/v1/{other}" for other in others)):
        with pytest.raises(NotFound):
            TABLE.find("GET", path.encode())


async def test_a_body_that_never_ends_is_refused_in_time() -> None:
    """A client that stops half-way does not block anything."""
    parts = [b"{"]

    async def receive() -> dict[str, Any]:
        if not parts:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": parts.pop(), "more_body": True}

    with pytest.raises(Invalid, match="did not arrive"):
        await read_body(receive, {}, 10, seconds=0.05)
