"""Paths find their routes with their parameters, and a body is read in bounded size and time."""

import asyncio
from typing import Any

import pytest
from msgspec import Struct

from shared.errors import BodyTooLarge, Invalid, MethodNotAllowed, NotFound
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
        (b"/v1/classes/7", "/classes/{class_id}", {"class_id": "7"}),
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


@pytest.mark.parametrize(
    "path",
    [
        b"/",
        b"/v1/class",
        b"/classes",
        b"/v1/classes/",
        b"/v1//classes",
        b"/v1/classes/7/spots",
        b"/v1/classes/7/spots/8/9",
        b"/v1/classes/a%2Fb",
    ],
)
def test_another_spelling_is_another_path(path: bytes) -> None:
    """Nothing is merged or stripped, and an encoded slash separates nothing."""
    with pytest.raises(NotFound):
        TABLE.find("GET", path)


def test_a_known_path_with_another_method_is_told_its_methods() -> None:
    """405 with `Allow`, not 404."""
    with pytest.raises(MethodNotAllowed) as refused:
        TABLE.find("DELETE", b"/v1/classes/7")
    assert (b"allow", b"GET") in refused.value.headers


def test_a_route_cannot_be_there_twice() -> None:
    """The second one would never be called."""
    with pytest.raises(ValueError, match="twice"):
        RouteTable([Row("GET", "/classes/{a}"), Row("GET", "/classes/{b}")], "")


def coming(*messages: dict[str, Any]) -> Any:
    """The server's side of ASGI: the given messages, and then nothing for ever."""
    left = list(messages)

    async def receive() -> dict[str, Any]:
        if left:
            return left.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    return receive


async def test_a_body_in_parts_is_joined() -> None:
    """Parts of any size make one body."""
    parts = [{"type": "http.request", "body": part, "more_body": part != b"c"} for part in (b"a", b"", b"c")]
    assert await read_body(coming(*parts), {}, 10) == b"ac"


async def test_a_body_that_never_ends_is_refused_in_time() -> None:
    """A client that stops half-way does not block anything."""
    first = {"type": "http.request", "body": b"{", "more_body": True}
    with pytest.raises(Invalid, match="did not arrive"):
        await read_body(coming(first), {}, 10, seconds=0.05)


@pytest.mark.parametrize("headers", [{}, {b"content-length": b"11"}])
async def test_a_body_over_the_limit_is_refused(headers: dict[bytes, bytes]) -> None:
    """By its declared length, or by the bytes received so far."""
    parts = [{"type": "http.request", "body": b"x" * 6, "more_body": True}] * 2
    with pytest.raises(BodyTooLarge):
        await read_body(coming(*parts), headers, 10)
