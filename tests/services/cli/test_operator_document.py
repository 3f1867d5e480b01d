"""The operators' document: valid, whole, described, and true to the routes that answer."""

import re
from typing import Any

from services.bookings.routes import routes as bookings_routes
from services.catalog.routes import routes as catalog_routes
from services.cli.openapi.document import operator_document
from services.cli.openapi.operations import reached_at
from services.forms.routes import routes as forms_routes
from services.gateway.routes.operator import port as table
from services.webhooks.app import routes as webhooks_routes
from shared.http.routes import Route
from shared.routing import STAFF_ROUTES
from shared.wire import new_id
from tests.harness.system import System

DOCUMENT = operator_document()
SERVED = "/operator/v1/openapi.json"
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
    assert {(route.method, route.path) for route in STAFF_ROUTES} <= set(OPERATIONS)


def test_every_operation_is_described() -> None:
    """With a summary, its parameters, and the errors that it can answer with."""
    for operation in OPERATIONS.values():
        assert operation["summary"] and operation["description"]
        assert {"401", "503"} <= set(operation["responses"])
        assert all(parameter.get("description", "-") for parameter in operation["parameters"])


def told(operation: dict[str, Any], status: int) -> list[str]:
    """The codes that the document lists for a status."""
    response = operation["responses"].get(str(status), {})
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]
    codes: list[str] = response.get("x-error-codes", [])
    return codes


def sent_for(path: str, operation: dict[str, Any], studio: str) -> tuple[str, Any, dict[str, Any]]:
    """Path, body and query of an operation, in which whatever names a studio names this one."""
    values = {"studio": studio, "queue": "webhooks.events", "client": "nobody"}
    target = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], new_id()), path)
    content = operation.get("requestBody", {}).get("content", {})
    body = content.get("application/json", {}).get("example")
    if body is not None and "studio" in body:
        body = body | {"studio": studio}
    named = {one.get("name") for one in operation["parameters"]}
    return target, body, {"studio": studio} if "studio" in named and "{studio}" not in path else {}


async def test_every_operation_is_routed_and_refuses_an_unknown_version(system: System) -> None:
    """Unknown ids are 404; a version is 400 with those that are served, as in the partner API."""
    assert (await system.client(system.running.operator_url, {}).get(SERVED)).json() == DOCUMENT
    old = {"X-API-Version": "1999-01-01"}
    for (method, path), operation in OPERATIONS.items():
        target, body, query = sent_for(path, operation, system.studio_id)
        refused = await system.operator.send(method, target, body, headers=old, **query)
        assert (refused.status, refused.code) == (400, "unsupported_api_version"), (method, path)
        assert refused.json()["error"]["details"] == {"supported": [DOCUMENT["info"]["version"]]}
        assert refused.code in told(operation, 400)
        if path in ("/import", "/sequences/advance"):
            continue
        reply = await system.operator.send(method, target, {} if "requestBody" in operation else None)
        assert reply.status != 405, (method, path)
        if reply.status == 404:
            assert "{" in path.replace("{studio}", ""), (method, path)
        elif reply.status >= 400:
            assert str(reply.status) in operation["responses"], (method, path, reply.body)


async def test_another_studio_is_answered_as_documented(system: System) -> None:
    """404 in a path, a query or a body, whatever role the operation needs where the path names the studio."""
    manager, other = system.staff((await system.staff_token("manager"))["token"]), await system.new_studio()
    for (method, path), operation in OPERATIONS.items():
        target, body, query = sent_for(path, operation, other)
        reply = await manager.send(method, target, body, **query)
        if "{studio}" in path:
            assert (reply.status, reply.code) == (404, "not_found"), (method, path)
        elif operation["x-required-role"] == "operator":
            assert (reply.status, reply.code) == (403, "insufficient_role"), (method, path)
        elif query or "studio" in (body or {}):
            assert (reply.status, reply.code) == (404, "not_found"), (method, path)
        if reply.status >= 400:
            assert reply.code in told(operation, reply.status), (method, path)
        else:
            assert str(reply.status) in operation["responses"], (method, path)


async def test_no_answer_to_operators_has_a_tag_and_the_document_promises_none(system: System) -> None:
    """Neither `ETag` nor 304: `If-None-Match` does nothing here."""
    assert not any(word in str(DOCUMENT) for word in ("IfNoneMatch", "If-None-Match", "'304'"))
    for path in ("/studios", f"/studios/{system.studio_id}/classes"):
        reply = await system.operator.send("GET", path, headers={"If-None-Match": "*"})
        assert (reply.status, reply.headers.get("ETag")) == (200, None)


async def test_the_root_of_the_operators_port_leads_to_the_console(system: System) -> None:
    """A browser that is given only the address ends up somewhere."""
    anyone = system.client(system.running.operator_url, {})
    reply = await anyone.get("/")
    assert (reply.status, reply.headers["location"]) == (307, "/console")
