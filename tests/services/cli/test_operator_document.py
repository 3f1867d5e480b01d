"""The operators' document: valid, whole, described, and true to the routes that answer."""

import re
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from services.bookings.routes import routes as bookings_routes
from services.cli.openapi.descriptions import undescribed
from services.cli.openapi.descriptions.operators import OPERATIONS as OPERATION_TEXTS
from services.cli.openapi.descriptions.operators import TEXTS
from services.cli.openapi.operator_document import operator_document
from services.cli.openapi.operator_operations import operator_operations, reached_at
from services.forms.routes import routes as forms_routes
from services.gateway.routes.operator import table
from services.webhooks.app import routes as webhooks_routes
from shared.http.routes import Route
from shared.wire import new_id
from tests.harness.http import Client
from tests.harness.system import System

DOCUMENT = operator_document()
OPERATIONS: dict[tuple[str, str], dict[str, Any]] = {
    (method.upper(), path): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}


def test_the_document_is_valid_openapi_3_1() -> None:
    """openapi-spec-validator has nothing to say."""
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_every_route_of_the_gateway_and_every_staff_route_is_documented() -> None:
    """Read from the routes themselves: a new one is in it without another list."""
    services: list[Route[Any]] = [*bookings_routes(), *forms_routes(), *webhooks_routes()]
    staff = {(route.method, reached_at(route.path)) for route in services if route.staff}
    own = {(route.method, route.path.removeprefix("/operator/v1")) for route in table.routes()}
    assert set(OPERATIONS) == own | staff | {("POST", "/import"), ("GET", "/export")}


def test_a_staff_route_that_the_gateway_cannot_forward_is_found() -> None:
    """The gateway knows the owner by the first word of the path."""
    with pytest.raises(ValueError, match="forwards nothing"):
        reached_at("/staff/spaceships/{spaceship_id}")


def test_every_operation_and_every_property_is_described() -> None:
    """With a summary, a name that differs, and the errors that it can answer with."""
    ids = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in ids)
    for operation in OPERATIONS.values():
        assert operation["summary"] and operation["description"]
        assert {"401", "503"} <= set(operation["responses"])
        assert all(parameter.get("description", "-") for parameter in operation["parameters"])
    schemas = DOCUMENT["components"]["schemas"]
    assert undescribed(schemas) == []
    texts = {prop["description"] for one in schemas.values() for prop in one.get("properties", {}).values()}
    unused = {name for name, text in TEXTS.items() if not any(told.startswith(text) for told in texts)}
    assert unused == set()


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
    assert {name for name, text in described.items() if not text} == set(OPERATION_TEXTS)
    for operation in operator_operations():
        assert operation.description.endswith("."), operation.id
        assert operation.description.strip(".") != operation.route.summary, operation.id


def test_every_body_of_a_route_is_in_the_document() -> None:
    """What has a body says which."""
    for operation in operator_operations():
        route = operation.route
        described = OPERATIONS[route.method, route.path]
        assert ("requestBody" in described) == (route.body is not None or route.path == "/import")


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
        answer = await system.operator.send(method, target, {} if "requestBody" in operation else None)
        assert answer.status != 405, (method, path)
        if answer.status == 404:
            assert "{" in path.replace("{studio}", ""), (method, path)
        elif answer.status >= 400:
            assert str(answer.status) in operation["responses"], (method, path, answer.body)
