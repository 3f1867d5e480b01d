"""What a request may hold, in words that validators and code generators understand.

No `default` in a schema: generators make the field required then. The value stands in the description.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

Json = dict[str, Any]
REF = "#/components/schemas/"

# msgspec searches with Python's `re`, whose `$` allows a newline. JSON Schema's does not, and the regular
# expressions of Go and Rust know no lookahead.
_PYTHON_END = r"(?![\s\S])"
NO_NUL = r"^[^\x00]*$"
# The years of `shared.http.value_checks`, which are checked in bodies only.
YEARS_OF_BODIES = "^(19[7-9]|2[0-9]{2})[0-9]-.*$"
_WITHOUT_NUL = {r"\S": r"^[^\x00]*[^\s\x00][^\x00]*$"}
# Their own syntax has no NUL.
_CHECKED_FORMATS = frozenset({"uuid", "date-time", "email"})


def portable_pattern(pattern: str) -> str:
    if pattern.endswith(_PYTHON_END):
        pattern = pattern.removesuffix(_PYTHON_END) + "$"
    return _WITHOUT_NUL.get(pattern, pattern)


def reachable(components: Json, roots: Iterable[str]) -> set[str]:
    """The roots, and the components that they refer to."""
    found: set[str] = set()
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name in components and name not in found:
            found.add(name)
            todo += _references(components[name])
    return found


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].removeprefix(REF)
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def say_what_is_accepted(schema: Any, *, in_body: bool) -> None:
    """Adds to every string of a request what is refused everywhere, in place.

    That is NUL, and in a body an instant in a year that nobody means.
    """
    if isinstance(schema, list):
        for part in schema:
            say_what_is_accepted(part, in_body=in_body)
        return
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "string" and not _has_own_syntax(schema):
        schema["pattern"] = NO_NUL
    if schema.get("format") == "date-time" and in_body:
        schema["pattern"] = YEARS_OF_BODIES
    if schema.get("type") == "object" and "properties" not in schema:
        schema["propertyNames"] = {"pattern": NO_NUL}
    for name, part in schema.items():
        if name not in ("example", "examples", "propertyNames"):
            say_what_is_accepted(part, in_body=in_body)


def _has_own_syntax(schema: Json) -> bool:
    return schema.get("format") in _CHECKED_FORMATS or bool({"pattern", "enum", "const"} & schema.keys())


def default_in_words(schema: Json) -> None:
    """Of an object that is sent: each property's `default` becomes a sentence of its description."""
    for prop in schema.get("properties", {}).values():
        default = prop.pop("default", None)
        if default not in (None, "", [], {}):
            said = msgspec.json.encode(default).decode().strip('"')
            prop["description"] = f"{prop.get('description', '')} Default: `{said}`.".strip()


def default_is_always_present(schema: Json) -> None:
    """Of an object that is answered: what has a default is never left out."""
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    always = [name for name, prop in properties.items() if "default" in prop or name in required]
    for prop in properties.values():
        prop.pop("default", None)
    if always:
        schema["required"] = always
