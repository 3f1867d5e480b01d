"""Examples in both OpenAPI documents: every body, answer and error code has one that fits its schema."""

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]

from services.cli.openapi.document import document, operator_document
from services.cli.openapi.examples import ERRORS
from shared.errors import DomainError

Content = dict[str, Any]
DOCUMENTS = {"": document(), "operators: ": operator_document()}


def contents(prefix: str, document: dict[str, Any]) -> Iterator[tuple[str, Content]]:
    """Every place of a document where a body is described, by a readable name."""
    sections = [(prefix, document["paths"]), (f"{prefix}webhook ", document.get("webhooks", {}))]
    for start, section in sections:
        for path, methods in section.items():
            for method, operation in methods.items():
                name = f"{start}{method} {path}"
                for content in operation.get("requestBody", {}).get("content", {}).values():
                    yield f"{name} body", content
                for status, response in operation["responses"].items():
                    for content in response.get("content", {}).values():
                        yield f"{name} {status}", content
    for name, response in document["components"].get("responses", {}).items():
        if "content" in response:
            yield f"{prefix}response {name}", response["content"]["application/json"]


def validator(place: str, schema: Any) -> Any:
    """The schema with the document's components in reach of its references."""
    document = DOCUMENTS["operators: " if place.startswith("operators: ") else ""]
    whole = {**schema, "components": document["components"]}
    return Draft202012Validator(whole, format_checker=FormatChecker())


PLACES = {name: content for start, one in DOCUMENTS.items() for name, content in contents(start, one)}


@pytest.mark.parametrize("place", PLACES)
def test_examples_fit_their_schema(place: str) -> None:
    """What the page shows is what the API accepts and returns."""
    content = PLACES[place]
    examples = [content["example"]] if "example" in content else []
    examples += [named["value"] for named in content.get("examples", {}).values()]
    assert examples, f"{place} has no example"
    for example in examples:
        problems = [error.message for error in validator(place, content["schema"]).iter_errors(example)]
        assert problems == []


def test_a_wrong_example_would_be_noticed() -> None:
    """The check above can fail: a resource without its id does not fit."""
    content = PLACES["get /studio 200"]
    broken = {key: value for key, value in content["example"].items() if key != "id"}
    check = validator("get /studio 200", content["schema"])
    assert not check.is_valid(broken)
    assert not check.is_valid({**content["example"], "id": "42"})


def test_error_examples_say_something_of_their_own() -> None:
    """The catch-all sentence belongs to internal_error alone, and nothing is kept for an unknown code."""
    told = {
        code: named["value"]["error"]["message"]
        for content in PLACES.values()
        for code, named in content.get("examples", {}).items()
    }
    vague = {code for code, message in told.items() if message == DomainError.message}
    assert vague == {"internal_error"}
    assert set(ERRORS) <= set(told)
