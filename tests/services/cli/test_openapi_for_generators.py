"""What generators, validators and readers need, over every schema of both documents."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from services.cli.openapi.document import document, operator_document
from services.cli.openapi.schemas import OPERATOR_TEXTS, PARTNER_TEXTS
from shared.http.routes import checked_key
from shared.wire import API_VERSION

Json = dict[str, Any]
DOCUMENTS: dict[str, Json] = {"partners": document(), "operators": operator_document()}
TEXTS: dict[str, dict[str, str]] = {"partners": PARTNER_TEXTS, "operators": OPERATOR_TEXTS}
BOTH = pytest.mark.parametrize("name", ["partners", "operators"])
# What holds values or names of fields, and no schemas.
NOT_SCHEMAS = ("example", "examples", "enum", "const", "required")


def walk(part: Any, place: str = "") -> Iterator[tuple[str, Json]]:
    """Every object of a document with its place."""
    if isinstance(part, dict):
        yield place, part
        for key, value in part.items():
            if key not in NOT_SCHEMAS or place.endswith("/properties"):
                yield from walk(value, f"{place}/{key}")
    elif isinstance(part, list):
        for index, value in enumerate(part):
            yield from walk(value, f"{place}/{index}")


def schemas(name: str) -> Iterator[tuple[str, Json]]:
    for place, part in walk(DOCUMENTS[name]):
        if not place.endswith(("/properties", "/responses", "/headers")):
            yield place, part


def operations(name: str) -> Iterator[Json]:
    for items in (DOCUMENTS[name]["paths"], DOCUMENTS[name].get("webhooks", {})):
        for methods in items.values():
            yield from methods.values()


def sent(name: str) -> Iterator[tuple[str, Json]]:
    """Every schema of a request: of parameters, of bodies and of what these refer to."""
    known = DOCUMENTS[name]["components"]["schemas"]
    seen: set[str] = set()
    todo: list[tuple[str, Any]] = [("parameters", DOCUMENTS[name]["components"]["parameters"])]
    for methods in DOCUMENTS[name]["paths"].values():
        for operation in methods.values():
            todo.append((operation["operationId"], operation["parameters"]))
            todo.append((operation["operationId"], operation.get("requestBody", {}).get("content", {})))
    while todo:
        place, part = todo.pop()
        for below, schema in walk(part, place):
            yield below, schema
            target = schema.get("$ref", "").removeprefix("#/components/schemas/")
            if target in known and target not in seen:
                seen.add(target)
                todo.append((target, known[target]))


@BOTH
def test_the_document_is_valid_openapi_3_1(name: str) -> None:
    """openapi-spec-validator finds no problem."""
    OpenAPIV31SpecValidator(DOCUMENTS[name]).validate()
    assert DOCUMENTS[name]["openapi"].startswith("3.1")
    assert DOCUMENTS[name]["info"]["version"] == API_VERSION == "2026-08-02"


@BOTH
def test_no_property_has_a_default(name: str) -> None:
    """A generated client makes a field with a default required; in a response it is never missing."""
    found = [
        f"{place}/{key}"
        for place, part in schemas(name)
        for key, prop in part.get("properties", {}).items()
        if "default" in prop
    ]
    assert found == []


def test_a_default_is_described_in_words() -> None:
    """The reader of a field still learns what happens without it."""
    rotate = DOCUMENTS["partners"]["components"]["schemas"]["WebhookSecretRotate"]
    assert "Default: `86400`." in rotate["properties"]["overlap_seconds"]["description"]
    assert "overlap_seconds" not in rotate.get("required", [])


@BOTH
def test_operations_have_names_that_differ(name: str) -> None:
    """Functions are named after the ids, and a reader finds an operation by its summary."""
    ids = Counter(operation["operationId"] for operation in operations(name))
    summaries = Counter(operation["summary"] for operation in operations(name))
    assert ids and all(re.fullmatch(r"[a-z][a-z0-9_]*", one) for one in ids)
    assert [text for text, count in (*ids.items(), *summaries.items()) if count > 1] == []


@BOTH
def test_every_pattern_means_the_same_to_all_validators(name: str) -> None:
    """No lookaround and no Python-only anchor: Go, Rust and JavaScript read it, too."""
    patterns = {part["pattern"] for _, part in schemas(name) if isinstance(part.get("pattern"), str)}
    assert len(patterns) > 3
    for pattern in patterns:
        assert not re.search(r"\(\?[=!<P]", pattern) and not re.search(r"\\[AZzh]", pattern), pattern
        assert pattern.startswith("^") and pattern.endswith("$"), pattern


@BOTH
def test_every_text_that_is_sent_says_that_it_holds_no_nul(name: str) -> None:
    """NUL is refused in all of them: by a pattern, a format, or a closed set."""
    texts = [(place, part) for place, part in sent(name) if part.get("type") == "string"]
    assert len(texts) > 30
    for place, part in texts:
        if {"enum", "const"} & part.keys() or part.get("format") in ("uuid", "date-time", "email"):
            continue
        if "/RequestId/" in place or "/IfNoneMatch/" in place or "ndjson" in place:
            continue  # HTTP itself allows no NUL in a header; an import reports it line by line.
        assert not re.search(part["pattern"], "a\x00b"), place


@BOTH
def test_bounds_of_headers_and_paths_are_those_of_the_code(name: str) -> None:
    """A request id is never refused; a cursor is not empty; a key is printable ASCII, in a path as well."""
    shared = DOCUMENTS[name]["components"]["parameters"]
    assert shared["RequestId"]["schema"] == {"type": "string"}
    for operation in operations(name):
        for parameter in operation["parameters"]:
            if parameter.get("name") == "cursor":
                assert parameter["schema"]["minLength"] == 1
            if parameter.get("name") == "key":
                for text in ("order-20260803", "x" * 120, "a b c d ~"):
                    jsonschema.validate(checked_key(text, ("path", "key")), parameter["schema"])
                for text in ("short", "x" * 121, "käse-und-brot", "orders/2026/08", "a\nb\nc\nd\ne"):
                    with pytest.raises(jsonschema.ValidationError):
                        jsonschema.validate(text, parameter["schema"])


@BOTH
def test_every_property_has_a_description_and_every_text_is_used(name: str) -> None:
    """Nobody has to guess what a field means, and a text for a property that is gone is found."""
    known = DOCUMENTS[name]["components"]["schemas"].values()
    properties = [prop for schema in known for prop in schema.get("properties", {}).values()]
    assert [prop for prop in properties if not prop.get("description", "").endswith(".")] == []
    shown = {prop["description"] for prop in properties}
    unused = {key for key, text in TEXTS[name].items() if not any(one.startswith(text) for one in shown)}
    assert unused == set()
