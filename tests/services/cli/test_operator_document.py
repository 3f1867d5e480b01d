"""The operators' document: valid, whole, described, and true to the routes that answer."""

import re
from typing import Any

import pytest

from services.bookings.routes import routes as bookings_routes
from services.catalog.routes import routes as catalog_routes
from services.cli.openapi.document import operator_document
from services.cli.openapi.operations import operator_operations, reached_at
from services.cli.openapi.schemas import OPERATORS
from services.forms.routes import routes as forms_routes
from services.gateway.routes.operator import port as table
from services.webhooks.app import routes as webhooks_routes
from shared.http.routes import Route
from shared.routing import STAFF_ROUTES
from shared.wire import new_id
from tests.harness.http import Client
from tests.harness.system import System

DOCUMENT = operator_document()
OPERATIONS: dict[tuple[str, str], dict[str, Any]] = {
    (method.upper(), path): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}


def test_every_route_of_the_gateway_and_every_staff_route_is_documented() -> None:
    """Read from the routes themselves: a new one is in it without another list."""
    services: list[Route[Any]] = [*catalog_routes(), *bookings_routes(), *forms_routes(), *webhooks_routes()]
    staff = {(route.method, reached_at(route.method, route.path)) for route in services if route.staff}
    own = {(route.method, route.path.removeprefix("/operator/v1")) for route in table.routes()}
    assert set(OPERATIONS) == own | staff | {("POST", "/import"), ("GET", "/export")}


def test_a_staff_route_that_the_gateway_cannot_forward_is_found() -> None:
    """The gateway forwards only what is in the routing table, which has nothing that no service serves."""
    with pytest.raises(ValueError, match="not in the routing table"):
        reached_at("GET", "/staff/spaceships/{spaceship_id}")
    assert {(route.method, route.path) for route in STAFF_ROUTES} <= set(OPERATIONS)


def test_every_operation_is_described() -> None:
    """With a summary, its parameters, and the errors that it can answer with."""
    for operation in OPERATIONS.values():
        assert operation["summary"] and operation["description"]
        assert {"401", "503"} <= set(operation["responses"])
        assert all(parameter.get("description", "-") for parameter in operation["parameters"])


def test_an_error_of_its_own_code_is_described_once_for_all_operations() -> None:
    """73 operations answer with the same few errors: repeated, they were half of the document."""
    shared = DOCUMENT["components"]["responses"]
    found = [
        response
        for operation in OPERATIONS.values()
        for status, response in operation["responses"].items()
        if status >= "400"
    ]
    inline = [response["x-error-codes"] for response in found if "$ref" not in response]
    assert all(len(codes) > 1 for codes in inline)
    assert {response["$ref"].rpartition("/")[2] for response in found if "$ref" in response} == set(shared)
    assert shared["NotFound"]["x-error-codes"] == ["not_found"]


def test_every_text_about_an_operation_is_used() -> None:
    """Each has a description that says more than its summary, at its route or in our own list."""
    described = {one.id: one.route.description for one in operator_operations()}
    assert {name for name, text in described.items() if not text} == set(OPERATORS["operations"])
    for operation in operator_operations():
        about = operation.description.partition("\n\nRequired role")[0]
        assert about.endswith("."), operation.id
        assert about.strip(".") != operation.route.summary, operation.id


@pytest.mark.parametrize("path", ["/docs", "/docs/page.js", "/docs/page.css", "/operator/v1/openapi.json"])
async def test_document_and_page_are_served_without_a_token(system: System, path: str) -> None:
    """Read only, with the headers of the partners' page; the API itself stays closed."""
    anyone = Client(system._session, system.running.operator_url, {})
    page = await anyone.get(path)
    assert page.status == 200
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert (await anyone.post(path)).status == 405
    assert (await anyone.get("/operator/v1/studios")).status == 401


async def test_what_the_document_says_is_what_the_port_answers(system: System) -> None:
    """Every operation is routed: with the token and unknown ids nothing is an unknown path or method."""
    client = Client(system._session, system.running.operator_url, {})
    served = (await client.get("/operator/v1/openapi.json")).json()
    assert served == DOCUMENT
    values = {"studio": system.studio_id, "queue": "webhooks.events", "client": "nobody"}
    for (method, path), operation in OPERATIONS.items():
        if path == "/import" or path == "/sequences/advance":
            continue
        target = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], new_id()), path)
        reply = await system.operator.send(method, target, {} if "requestBody" in operation else None)
        assert reply.status != 405, (method, path)
        if reply.status == 404:
            assert "{" in path.replace("{studio}", ""), (method, path)
        elif reply.status >= 400:
            assert str(reply.status) in operation["responses"], (method, path, reply.body)


def told(operation: dict[str, Any], status: int) -> list[str]:
    """The codes that the document lists for a status."""
    response = operation["responses"].get(str(status), {})
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]
    codes: list[str] = response.get("x-error-codes", [])
    return codes


def sent_for(path: str, operation: dict[str, Any], values: dict[str, str]) -> tuple[str, Any, dict[str, Any]]:
    """Path, body and query of an operation, in which whatever names a studio names that of `values`."""
    target = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], new_id()), path)
    content = operation.get("requestBody", {}).get("content", {})
    body = content.get("application/json", {}).get("example")
    if body is not None and "studio" in body:
        body = body | {"studio": values["studio"]}
    named = {one.get("name") for one in operation["parameters"]}
    return target, body, {"studio": values["studio"]} if "studio" in named and "{studio}" not in path else {}


@pytest.mark.parametrize("place", OPERATIONS, ids=" ".join)
async def test_another_studio_is_answered_as_documented(system: System, place: tuple[str, str]) -> None:
    """404 in a path, a query or a body, whatever role the operation needs where the path names the studio."""
    method, path = place
    operation = OPERATIONS[place]
    tokens = f"/studios/{system.studio_id}/staff-tokens"
    token = (await system.operator.post(tokens, {"name": "M", "role": "manager"})).json()["token"]
    base = f"{system.running.operator_url}/operator/v1"
    manager = system.client(base, {"Authorization": f"Bearer {token}"})
    values = {"studio": await system.new_studio(), "queue": "webhooks.events", "client": "nobody"}
    target, body, query = sent_for(path, operation, values)
    reply = await manager.send(method, target, body, **query)
    if "{studio}" in path:
        assert (reply.status, reply.code) == (404, "not_found")
    elif operation["x-required-role"] == "operator":
        assert (reply.status, reply.code) == (403, "insufficient_role")
    elif query or "studio" in (body or {}):
        assert (reply.status, reply.code) == (404, "not_found")
    if reply.status >= 400:
        assert reply.code in told(operation, reply.status)
    else:
        assert str(reply.status) in operation["responses"]


@pytest.mark.parametrize("place", OPERATIONS, ids=" ".join)
async def test_an_unknown_version_is_refused_as_documented(system: System, place: tuple[str, str]) -> None:
    """400 with the versions that are served, as in the partner API, and nothing is done."""
    method, path = place
    operation = OPERATIONS[place]
    values = {"studio": system.studio_id, "queue": "webhooks.events", "client": "nobody"}
    target, body, query = sent_for(path, operation, values)
    refused = await system.operator.send(
        method, target, body, headers={"X-API-Version": "1999-01-01"}, **query
    )
    assert (refused.status, refused.code) == (400, "unsupported_api_version")
    assert refused.json()["error"]["details"] == {"supported": [DOCUMENT["info"]["version"]]}
    assert refused.code in told(operation, 400)


async def test_no_answer_to_operators_has_a_tag_and_the_document_promises_none(system: System) -> None:
    """Neither `ETag` nor 304: `If-None-Match` does nothing here."""
    assert not any(word in str(DOCUMENT) for word in ("IfNoneMatch", "If-None-Match", "'304'"))
    for path in ("/studios", f"/studios/{system.studio_id}/classes"):
        reply = await system.operator.send("GET", path, headers={"If-None-Match": "*"})
        assert (reply.status, reply.headers.get("ETag")) == (200, None)


async def test_no_path_is_known_without_a_token(system: System) -> None:
    """401 comes before 404 and 405, as in the partner API."""
    anyone = Client(system._session, f"{system.running.operator_url}/operator/v1", {})
    for method, path in (("GET", "/studios"), ("GET", "/nothing"), ("DELETE", "/studios")):
        assert (await anyone.send(method, path)).status in (401, 429)


async def test_the_root_of_the_operators_port_leads_to_the_console(system: System) -> None:
    """A browser that is given only the address ends up somewhere."""
    anyone = Client(system._session, system.running.operator_url, {})
    reply = await anyone.get("/")
    assert (reply.status, reply.headers["location"]) == (307, "/console")
