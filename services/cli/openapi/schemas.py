"""JSON Schemas of the structs, in words that validators and code generators understand.

Lists are named after their items. In responses every field is required. In requests no schema has a
`default`: generators make the field required then, so the value stands in the description. Descriptions come
from partners.toml and operators.toml.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from shared.wire import Body, Query

RENAMED: Final = {
    "OwnKey": "Key",
    "RateLimit": "KeyRateLimit",
    "LoggedRequest": "Request",
    "BookingCreate": "PartnerBookingCreate",
    "ReschedulePreview": "BookingReschedulePreview",
    "Cancellation": "MembershipCancellation",
    "Pause": "MembershipPause",
    # The body that asks for one; only staff send it.
    "MembershipPause": "MembershipPauseRequest",
    "FieldType": "FormFieldType",
    "Operator": "ConditionalOperator",
    "Endpoint": "WebhookEndpoint",
    "EndpointCreate": "WebhookEndpointCreate",
    "EndpointUpdate": "WebhookEndpointUpdate",
    "EndpointWithSecret": "WebhookEndpointWithSecret",
    "RotateSecret": "WebhookSecretRotate",
    "Recover": "WebhookRecover",
    "Recovery": "WebhookRecovery",
    "Delivery": "WebhookDelivery",
    "DeliveryWithHeaders": "WebhookDeliveryWithHeaders",
    "Attempt": "WebhookAttempt",
    "LoggedAttempt": "WebhookAttemptWithHeaders",
    "EventRead": "Event",
    "EventPage": "EventList",
    "EventTypeRead": "EventType",
    "EventTypeTable": "EventTypes",
    "EventObject": "EventData",
    "ErrorBody": "Error",
    "ValidationErrorBody": "ValidationError",
    "Problem": "ValidationProblem",
}


def public_name(name: str) -> str:
    return RENAMED.get(name, name)


Json = dict[str, Any]


def _tables(file: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))
    return found


PARTNERS: Final = _tables("partners.toml")
OPERATORS: Final = _tables("operators.toml")
# The other tables describe properties.
_OF_THE_DOCUMENT: Final = ("document", "groups", "statuses", "limits", "parameters", "operations")


def _by_property(tables: dict[str, dict[str, str]]) -> dict[str, str]:
    """By `Schema.property`, or by `property` alone for those of any schema."""
    found = dict(tables["any"])
    for schemas, texts in tables.items():
        if schemas != "any" and schemas not in _OF_THE_DOCUMENT:
            for schema in schemas.split(", "):
                found |= {f"{schema}.{name}": text for name, text in texts.items()}
    return found


PARTNER_TEXTS = _by_property(PARTNERS)
OPERATOR_TEXTS = _by_property(OPERATORS)


def describe(components: Json, texts: dict[str, str]) -> None:
    """Adds the texts to the components' properties, in place."""
    for schema, definition in components.items():
        for name, prop in definition.get("properties", {}).items():
            text = texts.get(f"{schema}.{name}") or texts.get(name)
            if text and not prop.get("description"):
                definition["properties"][name] = {"description": text, **prop}


REF = "#/components/schemas/"

# msgspec searches with Python's `re`, whose `$` allows a newline. JSON Schema's does not, and the regular
# expressions of Go and Rust know no lookahead.
_PYTHON_END = r"(?![\s\S])"
NO_NUL = r"^[^\x00]*$"
# The years of `shared.http.body_problems`, which are checked in bodies only.
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
            todo += references(components[name])
    return found


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].removeprefix(REF)
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


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
    """Of an object in a response: what has a default is never left out."""
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    always = [name for name, prop in properties.items() if "default" in prop or name in required]
    for prop in properties.values():
        prop.pop("default", None)
    if always:
        schema["required"] = always


_BRACKETS = str.maketrans("[]", "__")
_PAGE = re.compile(r"Page_(\w+)_\Z")


class Schemas:
    """All types are converted together, so that each struct has the same name everywhere."""

    def __init__(self, types: Iterable[Any]) -> None:
        unique = list({repr(kind): kind for kind in types}.values())
        found, components = msgspec.json.schema_components(unique, ref_template=REF + "{name}")
        self._by_type: dict[str, Json] = {
            repr(kind): _tidy(schema) for kind, schema in zip(unique, found, strict=True)
        }
        tidied = {_name(name): _tidy(schema) for name, schema in components.items()}
        self._components: dict[str, Json] = dict(sorted(tidied.items()))
        self._queries = {_target(self._by_type[repr(kind)]) for kind in unique if _is(kind, (Query,))}
        self._requests = reachable(
            self._components,
            (_target(self._by_type[repr(kind)]) for kind in unique if _is(kind, (Body, Query))),
        )
        for name, schema in self._components.items():
            if name in self._requests:
                say_what_is_accepted(schema, in_body=name not in self._queries)
            else:
                default_is_always_present(schema)

    def of(self, kind: Any) -> Json:
        return self._by_type[repr(kind)]

    def resolved(self, kind: Any) -> Json:
        return self._components[_target(self.of(kind))]

    def components(self, texts: dict[str, str]) -> Json:
        """All but those of query strings, each property with its description."""
        found = {name: schema for name, schema in self._components.items() if name not in self._queries}
        describe(found, texts)
        for name in self._requests & found.keys():
            default_in_words(found[name])
        return found


def _is(kind: Any, bases: tuple[type, ...]) -> bool:
    origin = getattr(kind, "__origin__", kind)
    return isinstance(origin, type) and issubclass(origin, bases)


def _name(name: str) -> str:
    found = _PAGE.match(name)
    return f"{public_name(found[1])}List" if found else public_name(name)


def _target(schema: Json) -> str:
    return str(schema.get("$ref", "")).removeprefix(REF)


def _tidy(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_tidy(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {key: _tidy(value) for key, value in schema.items()}
    if isinstance(tidied.get("$ref"), str):
        tidied["$ref"] = REF + _name(_target(tidied))
    if isinstance(tidied.get("title"), str):
        tidied["title"] = _name(tidied["title"].translate(_BRACKETS))
    if isinstance(tidied.get("default"), dict):
        tidied["default"] = {key: value for key, value in tidied["default"].items() if value is not None}
    choices = tidied.get("enum")
    if isinstance(choices, list) and all(isinstance(choice, str) for choice in choices):
        tidied = {"type": "string", **tidied}
        if len(choices) == 1:
            tidied["const"] = tidied.pop("enum")[0]
    if isinstance(tidied.get("pattern"), str):
        tidied["pattern"] = portable_pattern(tidied["pattern"])
    if tidied.get("type") == "array":
        tidied.setdefault("items", {})
    if tidied.get("format") == "uuid":
        tidied = {"type": "string", "format": "uuid"} | {
            key: value for key, value in tidied.items() if key not in ("type", "format", "pattern")
        }
    return tidied
