"""The OpenAPI document: valid, whole, and true to the routes that the services answer."""

import re
from pathlib import Path
from typing import Any

import pytest

from services.cli.openapi.__main__ import main
from services.cli.openapi.document import document
from services.cli.openapi.operations import partner_routes
from shared.events.kinds import KINDS
from shared.routing import ANY_KEY, ROUTES

DOCUMENT = document()
OPERATIONS: dict[tuple[str, str], dict[str, Any]] = {
    (method.upper(), path): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}


def test_every_row_of_the_routing_page_is_documented_and_nothing_else() -> None:
    """The routing table, the services' routes and the document describe the same API."""
    rows = {(row.method, row.path) for row in ROUTES}
    answered = set(partner_routes())
    assert rows - answered == set(), "the gateway routes what no service answers"
    assert answered - rows == set(), "a service answers what the gateway does not route"
    assert set(OPERATIONS) == rows


def test_an_operation_tells_the_scope_that_the_gateway_asks_for() -> None:
    """In the security requirement, in an extension and in words."""
    rows = {(row.method, row.path): row for row in ROUTES}
    for key, operation in OPERATIONS.items():
        scope, other = rows[key].scope, rows[key].or_scope
        if scope == ANY_KEY:
            assert operation["x-required-scope"] is None
            refused = operation["responses"].get("403")
            assert refused is None or refused["x-error-codes"] == ["console_session_not_allowed"]
            continue
        assert operation["x-required-scope"] == scope
        also = partner_routes()[key].also_needs
        ways = [{"ServiceKey": [scope, *also]}, *([{"ServiceKey": [other]}] if other else [])]
        assert operation["security"] == ways
        several = {"any": [scope, other]} if other else {"all": [scope, *also]} if also else None
        assert operation.get("x-required-scopes") == several
        assert all(f"`{one}`" in operation["description"] for one in (scope, *also))
        assert "403" in operation["responses"]


def test_every_operation_has_its_summary_group_parameters_and_errors() -> None:
    """The errors that any caller can get, those of a path with ids, which are uuids, and those of a list."""
    groups = {tag["name"]: tag["description"] for tag in DOCUMENT["tags"]}
    for key, operation in OPERATIONS.items():
        assert operation["summary"], key
        assert all(groups.get(tag) for tag in operation["tags"]), key
        assert operation["responses"].keys() >= {"400", "401", "429", "500", "503", "504"}, key
        parameters = {one["name"]: one for one in operation["parameters"] if "name" in one}
        for name in re.findall(r"\{(\w+)\}", key[1]):
            assert parameters[name]["required"], key
            assert not name.endswith("_id") or parameters[name]["schema"]["format"] == "uuid", key
            assert operation["responses"].keys() >= {"404", "422"}, key
        schema = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
        if schema.get("schema", {}).get("$ref", "").endswith("List"):
            assert {"cursor", "limit"} <= parameters.keys(), key
            assert operation["responses"]["400"]["$ref"].endswith("/BadListRequest"), key


def test_idempotent_writes_ask_for_the_key() -> None:
    """Those of bookings, and nothing else, need an Idempotency-Key and may say it was reused."""
    wanted = {"$ref": "#/components/parameters/IdempotencyKey"}
    having = {key for key, operation in OPERATIONS.items() if wanted in operation["parameters"]}
    booking = "/bookings/{booking_id}"
    assert having == {
        ("POST", "/bookings"),
        ("POST", f"{booking}/confirm"),
        ("POST", f"{booking}/reschedule"),
        ("DELETE", booking),
    }
    for key in having:
        assert "idempotency_key_reused" in OPERATIONS[key]["responses"]["409"]["x-error-codes"]


def test_an_answer_has_all_its_fields_and_a_body_refuses_unknown_ones() -> None:
    """Every tabulated field is always present; a misspelt field of a request is 422."""
    schemas = DOCUMENT["components"]["schemas"]
    assert set(schemas["Room"]["required"]) == set(schemas["Room"]["properties"])
    for operation in OPERATIONS.values():
        if "requestBody" in operation:
            reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            assert schemas[reference.rsplit("/", 1)[1]]["additionalProperties"] is False


def test_every_event_kind_is_a_webhook() -> None:
    """The section `webhooks` holds each kind that can be delivered, with its scope and signature headers."""
    assert set(DOCUMENT["webhooks"]) == set(KINDS)
    for kind, item in DOCUMENT["webhooks"].items():
        assert item["post"]["x-required-scope"] == KINDS[kind].scope
        headers = {parameter["name"] for parameter in item["post"]["parameters"]}
        assert headers == {"webhook-id", "webhook-timestamp", "webhook-signature", "webhook-sequence"}


@pytest.mark.parametrize("name", ["openapi.json", "event_types.json"])
def test_a_stale_file_is_told(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` fails after a change of any file, and passes for the committed ones."""
    assert main(["--check"]) == 0, "the committed files are what the code says"
    kinds = tmp_path / "event_types.json"
    main(["--write"], folder=tmp_path, event_types=kinds)
    with (tmp_path / name).open("a") as file:
        file.write(" ")
    assert main(["--check"], folder=tmp_path, event_types=kinds) == 1
    assert "--write" in capsys.readouterr().err


def test_every_get_names_its_tag_and_its_304() -> None:
    """Partners can use conditional requests only if they are documented. A preview has none."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            names = [parameter.get("$ref", "").rsplit("/", 1)[-1] for parameter in operation["parameters"]]
            responses = operation["responses"]
            conditional = method == "get" and path != "/bookings/{booking_id}/cancellation-preview"
            assert ("IfNoneMatch" in names) == conditional, path
            assert ("304" in responses) == conditional, path
            assert not conditional or {"ETag", "Cache-Control"} <= set(responses["200"]["headers"]), path


def test_what_a_session_is_refused_with_is_in_the_document() -> None:
    """401 at every operation, because each takes the cookie; 403 where sessions are made."""
    shared = DOCUMENT["components"]["responses"]

    def codes(operation: Any, status: str) -> list[str]:
        listed = operation["responses"].get(status, {})
        found: list[str] = shared.get(listed.get("$ref", "").rpartition("/")[2], listed)["x-error-codes"]
        return found

    for operation in OPERATIONS.values():
        assert "console_session_ended" in codes(operation, "401"), operation["operationId"]
    assert codes(OPERATIONS["POST", "/console-sessions"], "403") == ["console_session_not_allowed"]
