"""The limits that the code has and those that the document says are the same."""

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

import services
import shared
from services.cli.openapi.__main__ import STATIC
from services.cli.openapi.document import LIMITS, LIMITS_IN_WORDS
from services.cli.openapi.operations import operations
from services.cli.openapi.schemas import NO_NUL, YEARS_OF_BODIES, portable_pattern
from services.gateway.rules.rate_limit import FailedKeyLimits
from shared.emails import normalize_email
from shared.http.body_problems import value_problems
from shared.wire import MAX_EMAIL_LENGTH

LIMIT_NAME = re.compile(
    r"(MAX|MIN|MOST|LONGEST|LARGEST|DEEPEST|SHORTEST|SMALLEST)_[A-Z_]+|[A-Z_]+_LIMIT|BODY_TIMEOUT"
)
# Where a request of a partner can meet a limit.
REFUSING = re.compile(
    r"(shared\.(errors|phones|emails|wire|http\.(routes|decoding|json_limits|value_checks|body_problems)))"
    r"|services\.(bookings|catalog|forms|webhooks)\.(rules|wire|actions)\..*"
    r"|services\.gateway\.(rules\.(rate_limit|waits)|actions\.open_console)"
)
# Limits that refuse nobody: what the server keeps, reads or does at a time.
OWN = {
    "services.forms.rules.lead_metadata.MAX_ENTRY_LENGTH": "what counts as an entry of the server's",
    "services.bookings.wire.desk.MAX_CANCELLED": "of staff, not of partners",
    "services.webhooks.actions.recover.MAX_COUNTED": "more are not counted, and the answer says so",
    "services.webhooks.actions.recover.MAX_OPEN": "how fast a recovery goes",
    "services.webhooks.actions.recover.MAX_PER_STEP": "how fast recoveries go",
    "services.webhooks.actions.manage_endpoints.MAX_LIVE_SECRETS": "the oldest go",
    "services.webhooks.rules.retry.MAX_PAUSE": "our own retries",
    "services.webhooks.rules.retry.MAX_WINDOW": "our own retries",
    "services.webhooks.rules.retry.MAX_WAIT": "our own retries",
    "shared.http.decoding.MAX_CACHED_QUERY": "longer queries are only not kept",
    "shared.http.json_limits.MAX_DIGITS": "such a number is out of range long before",
}


def modules() -> Iterator[Any]:
    for package in (services, shared):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if REFUSING.fullmatch(found.name):
                yield importlib.import_module(found.name)


def limits_of_the_code() -> dict[str, float]:
    """Each by the module that defines it: an imported one is that module's."""
    found: dict[str, float] = {}
    for module in modules():
        source = Path(module.__file__).read_text(encoding="utf-8")
        for name, value in vars(module).items():
            defined = re.search(rf"^{name}(: [^=]+)? = ", source, re.MULTILINE)
            if LIMIT_NAME.fullmatch(name) and isinstance(value, (int, float)) and defined:
                found[f"{module.__name__}.{name}"] = value
    return found


@pytest.fixture(scope="module")
def document() -> Any:
    return json.loads((STATIC / "openapi.json").read_bytes())


def test_every_limit_of_the_code_is_in_the_document(document: Any) -> None:
    """By place and value; a new constant that is in neither list fails here."""
    code = limits_of_the_code()
    assert set(OWN) <= set(code), "a limit is gone"
    refusing = {name: value for name, value in code.items() if name not in OWN}
    assert refusing == {place: document["x-limits"][text] for place, text in LIMITS.items()}
    assert len(document["x-limits"]) == len(LIMITS)
    for value in refusing.values():
        assert f"| {value:,.0f} |" in document["info"]["description"]


def bounds(schema: Any) -> dict[str, Any]:
    names = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern")
    return {name: schema[name] for name in names if name in schema}


def test_every_bound_of_a_body_or_a_query_is_in_the_document(document: Any) -> None:
    """Lengths, counts, ranges and patterns, field by field, nested ones too, from the types that refuse."""
    schemas = document["components"]["schemas"]
    bodies = queries = 0
    for operation in operations():
        route = operation.route
        shown = document["paths"][operation.route.path][operation.route.method.lower()]
        if route.body is not None:
            (ref,), known = msgspec.json.schema_components([route.body], ref_template="{name}")
            sent = shown["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            for struct, own in known.items():
                told = schemas.get(sent if struct == ref["$ref"] else struct, {}).get("properties", {})
                for name, field in own.get("properties", {}).items():
                    assert all_bounds(field) == all_bounds(told[name]), (struct, name)
                    bodies += len(all_bounds(field))
        (_,), known = msgspec.json.schema_components([route.query], ref_template="{name}")
        told = {one["name"]: one["schema"] for one in shown.get("parameters", ()) if one.get("in") == "query"}
        for name, field in known[route.query.__name__].get("properties", {}).items():
            assert all_bounds(field) == all_bounds(told[name]), (operation.route.path, name)
            queries += len(all_bounds(field))
    assert (bodies > 60, queries > 15) == (True, True), (bodies, queries)


def test_limits_that_are_no_single_number_are_in_the_document(document: Any) -> None:
    """Each as it is met: the last that passes and the first that is refused."""
    told = document["info"]["description"]
    assert LIMITS_IN_WORDS in told
    for year in (1, 999, 1899, 1969, 1970, 1999, 2000, 2026, 2999, 3000, 9999):
        instant = datetime(year, 7, 1, tzinfo=UTC)
        refused = bool(list(value_problems(instant, ())))
        assert bool(re.search(YEARS_OF_BODIES, instant.isoformat())) != refused, year
    assert "the years 1970 to 2999" in told
    limits = FailedKeyLimits()
    assert [limits.take("a", 0.0) for _ in range(30)] == [None] * 30
    assert (limits.take("a", 0.0), limits.take("a", 1.0)) == (1, None)
    assert "send 30 refused keys at once and 1 more each" in told
    longest = f"{'a' * (MAX_EMAIL_LENGTH - len('@b.example'))}@b.example"
    assert normalize_email(longest) == longest
    with pytest.raises(ValueError, match="too long"):
        normalize_email(f"a{longest}")


def all_bounds(schema: Any) -> list[dict[str, Any]]:
    """Of the field and of what it may be or hold; ids show their format instead of their pattern.

    Patterns are in the syntax of JSON Schema. No type says that a text holds no NUL, or which years it
    may name.
    """
    if not isinstance(schema, dict):
        return []
    here = bounds(schema)
    if "pattern" in here:
        here["pattern"] = portable_pattern(here["pattern"])
    if here.get("pattern") in (NO_NUL, YEARS_OF_BODIES):
        del here["pattern"]
    if schema.get("format") == "uuid":
        here.pop("pattern", None)
    parts = [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]
    inner = [found for part in parts for found in all_bounds(part)]
    return [*([here] if here else []), *inner]
