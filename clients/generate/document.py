"""Reads the OpenAPI document into what clients are printed from: operations, models, events and error codes.

A printer (`python.py`, `typescript.py`) decides how each of these looks in its language, and nothing else.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

Json = dict[str, Any]

ROOT: Final = Path(__file__).resolve().parents[2]
OPENAPI: Final = ROOT / "services/gateway/static/openapi.json"
# The decimal strings of the document: by format, or by the pattern that amounts have.
_DECIMAL: Final = r"^[0-9]{1,10}(\.[0-9]{1,4})?$"
# Fields that only the first response shows. A replay has null in their place: clients raise SecretLost.
_SHOWN_ONCE: Final = {"WebhookEndpointWithSecret": "secret", "OwnConsoleSession": "url"}
# The envelope of an event of any kind. Printers write a union of all kinds in its place.
EVENT: Final = "Event"
EVENT_MODELS: Final = frozenset({EVENT, "EventData"})
# Sets of values that several places repeat, under a name of their own.
EVENT_KIND, SCOPE = "EventKind", "Scope"


class Scalar(Struct, frozen=True):
    """`name` is string, integer, number, boolean or any; `format` is date-time, date, decimal, uuid…"""

    name: str
    format: str | None = None


class Named(Struct, frozen=True):
    """A model, an enum, or EVENT."""

    name: str


class Nullable(Struct, frozen=True):
    of: "Type"


class ListOf(Struct, frozen=True):
    """In a query it is sent as one text, joined by commas."""

    of: "Type"


class MapOf(Struct, frozen=True):
    """An object with any keys."""

    of: "Type"


class AnyOf(Struct, frozen=True):
    options: "tuple[Type, ...]"


class Literals(Struct, frozen=True):
    """A constant, or in a request one of a few texts that have no name in the document."""

    values: tuple[str, ...]


Type = Scalar | Named | Nullable | ListOf | MapOf | AnyOf | Literals


class Field(Struct, frozen=True):
    name: str
    type: Type
    required: bool
    description: str


class Model(Struct, frozen=True):
    """`sent` models are parts of requests, `received` ones of responses. A few are both: whoever sends back
    what it received must not lose the properties that it does not know.
    """

    name: str
    description: str
    fields: tuple[Field, ...]
    sent: bool
    received: bool


class Enum(Struct, frozen=True):
    name: str
    description: str
    values: tuple[str, ...]


class Operation(Struct, frozen=True):
    """`returns` is "" for an empty response. `item` is the model of a list's rows; `paged`: it has pages.

    `writes` says that the client sends an Idempotency-Key with every attempt. `shown_once` names the field of
    the response that is null in a replay.
    """

    id: str
    method: str
    path: str
    summary: str
    description: str
    tag: str
    path_fields: tuple[Field, ...]
    query: tuple[Field, ...]
    body: tuple[Field, ...] | None
    body_required: bool
    returns: str
    item: str | None
    paged: bool
    writes: bool
    shown_once: str | None
    errors: tuple[str, ...]


class EventKind(Struct, frozen=True):
    """`object` is a model, a reference to one (`BookingReference`), or AnyOf both: the model first."""

    name: str
    class_name: str
    description: str
    object: Type
    previous: bool
    active: bool


class ErrorCode(Struct, frozen=True):
    """`message` is the document's example."""

    code: str
    class_name: str
    message: str


class Document(Struct, frozen=True):
    api_version: str
    operations: tuple[Operation, ...]
    models: tuple[Model, ...]
    enums: tuple[Enum, ...]
    kinds: tuple[EventKind, ...]
    errors: tuple[ErrorCode, ...]


def read_document(path: Path = OPENAPI) -> Document:
    return _Reader(json.loads(path.read_text())).document()


def camel(words: str) -> str:
    """`booking.checked_in` is BookingCheckedIn."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", words))


class _Reader:
    def __init__(self, source: Json) -> None:
        self.source = source
        self.schemas: Json = source["components"]["schemas"]
        self.models: dict[str, Model] = {}
        self.enums: dict[str, Enum] = {}
        self.references: dict[str, Model] = {}
        kinds = tuple(source["webhooks"])
        self.shared_sets = {frozenset(kinds): EVENT_KIND}
        self.enums[EVENT_KIND] = Enum(EVENT_KIND, "What an event tells.", kinds)

    def document(self) -> Document:
        operations = [
            (method, path, operation)
            for path, methods in self.source["paths"].items()
            for method, operation in methods.items()
        ]
        bodies = {ref for *_, one in operations if (ref := _ref(_content(one.get("requestBody", {}))))}
        sent = set(self._reached({name for body in bodies for name in _refs(self.schemas[body])}))
        received = set(
            self._reached({ref for *_, one in operations if (ref := _ref(_content(_good(one)[1])))})
        )
        for name, schema in self.schemas.items():
            if name in bodies - received:
                continue
            if "enum" in schema:
                self.enums[name] = Enum(name, schema.get("description", ""), tuple(schema["enum"]))
            elif name in sent | received:
                fields = self._fields(name, schema, closed=name not in received)
                self.models[name] = Model(
                    name, schema.get("description", ""), fields, name in sent, name in received
                )
        printed = tuple(self._operation(*one) for one in operations)
        kinds = tuple(self._kind(name, one["post"]) for name, one in self.source["webhooks"].items())
        models = tuple((self.models | self.references).values())
        return Document(
            api_version=self.source["info"]["version"],
            operations=printed,
            models=models,
            enums=tuple(self.enums.values()),
            kinds=kinds,
            errors=self._errors(),
        )

    def _reached(self, names: set[str]) -> Iterator[str]:
        """These schemas and those that they mention, however deep."""
        seen: set[str] = set()
        while names:
            name = names.pop()
            if name not in seen:
                seen.add(name)
                names.update(_refs(self.schemas[name]))
                yield name

    def _fields(self, owner: str, schema: Json, *, closed: bool) -> tuple[Field, ...]:
        required = schema.get("required", ())
        return tuple(
            Field(
                name,
                self._type(one, f"{owner}{camel(name)}", closed=closed),
                name in required,
                one.get("description", ""),
            )
            for name, one in schema.get("properties", {}).items()
        )

    def _type(self, schema: Json, name: str, *, closed: bool) -> Type:
        """`name` is given to a set of values that has none. In a request (`closed`) it stays nameless."""
        if ref := _ref(schema):
            return Named(ref)
        if options := schema.get("anyOf"):
            types = [self._type(one, name, closed=closed) for one in options if one.get("type") != "null"]
            one = types[0] if len(types) == 1 else AnyOf(tuple(types))
            return Nullable(one) if len(types) < len(options) else one
        if "const" in schema:
            return Literals((schema["const"],))
        if "enum" in schema:
            return self._set_of(tuple(schema["enum"]), name, schema, closed=closed)
        match schema.get("type"):
            case "array":
                return ListOf(self._type(schema["items"], name, closed=closed))
            case "object":
                values = schema.get("additionalProperties", {})
                return MapOf(self._type(values if isinstance(values, dict) else {}, name, closed=closed))
            case "string" if closed and "(," in schema.get("pattern", ""):
                return ListOf(Scalar("string", "uuid"))
            case "string" if schema.get("pattern") == _DECIMAL:
                return Scalar("string", "decimal")
            case str(scalar):
                return Scalar(scalar, schema.get("format"))
        return Scalar("any")

    def _set_of(self, values: tuple[str, ...], name: str, schema: Json, *, closed: bool) -> Type:
        key = frozenset(values)
        if closed and "webhooks:write" in key:
            self.shared_sets.setdefault(key, SCOPE)
            self.enums.setdefault(SCOPE, Enum(SCOPE, "What a key may do.", values))
        if key in self.shared_sets:
            return Named(self.shared_sets[key])
        if closed:
            return Literals(values)
        self.shared_sets[key] = name
        self.enums[name] = Enum(name, schema.get("description", ""), values)
        return Named(name)

    def _operation(self, method: str, path: str, one: Json) -> Operation:
        parameters = [self._resolved(parameter) for parameter in one["parameters"]]
        body_schema = _content(one.get("requestBody", {}))
        _, good = _good(one)
        returns = _ref(_content(good))
        rows = self.schemas[returns]["properties"].get("data", {}).get("items") if returns else None
        names = {parameter["name"] for parameter in parameters}
        return Operation(
            id=one["operationId"],
            method=method.upper(),
            path=path,
            summary=one["summary"],
            description=one.get("description", ""),
            tag=one["tags"][0],
            path_fields=self._parameters(parameters, "path"),
            query=self._parameters(parameters, "query"),
            body=self._fields("", self.schemas[_ref(body_schema)], closed=True) if body_schema else None,
            body_required=one.get("requestBody", {}).get("required", False),
            returns=returns,
            item=_ref(rows) if rows else None,
            paged=rows is not None and "cursor" in names,
            writes="Idempotency-Key" in names,
            shown_once=_SHOWN_ONCE.get(returns),
            errors=tuple(
                dict.fromkeys(
                    code
                    for response in one["responses"].values()
                    for code in self._resolved(response).get("x-error-codes", ())
                )
            ),
        )

    def _parameters(self, parameters: list[Json], place: str) -> tuple[Field, ...]:
        return tuple(
            Field(
                one["name"],
                self._type(one["schema"], camel(one["name"]), closed=True),
                one.get("required", False),
                one.get("description", ""),
            )
            for one in parameters
            if one["in"] == place
        )

    def _resolved(self, one: Json) -> Json:
        resolved = one
        if "$ref" in one:
            _, _, kind, name = one["$ref"].split("/")
            resolved = self.source["components"][kind][name]
        return resolved

    def _kind(self, name: str, one: Json) -> EventKind:
        data = _content(one["requestBody"])["properties"]["data"]["properties"]
        shapes = data["object"].get("anyOf", [data["object"]])
        types = tuple(Named(_ref(shape) or self._reference(shape)) for shape in shapes)
        return EventKind(
            name,
            camel(name),
            one["summary"],
            types[0] if len(types) == 1 else AnyOf(types),
            "previous" in data,
            "active" in data,
        )

    def _reference(self, schema: Json) -> str:
        """The model of an event that carries no more than an id and what is needed to fetch the rest."""
        name = f"{camel(schema['properties']['object']['const'])}Reference"
        fields = self._fields(name, schema, closed=False)
        model = Model(name, "An id without the resource: fetch it.", fields, sent=False, received=True)
        if self.references.setdefault(name, model).fields != fields:
            raise ValueError(f"{name} has two shapes.")
        return name

    def _errors(self) -> tuple[ErrorCode, ...]:
        messages: dict[str, str] = {}
        for methods in self.source["paths"].values():
            for operation in methods.values():
                for response in map(self._resolved, operation["responses"].values()):
                    for code in response.get("x-error-codes", ()):
                        messages[code] = messages.get(code) or _example_message(response, code)
        return tuple(ErrorCode(code, _error_class(code), messages[code]) for code in sorted(messages))


def _error_class(code: str) -> str:
    name = camel(code)
    return name if name.endswith("Error") else f"{name}Error"


def _example_message(response: Json, code: str) -> str:
    content: Json = next(iter(response.get("content", {}).values()), {})
    examples = [one["value"] for one in content.get("examples", {}).values()] + [content.get("example")]
    for example in examples:
        if example and example["error"]["code"] == code:
            return str(example["error"]["message"])
    return ""


def _ref(schema: Json) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _refs(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if ref := _ref(schema):
            yield ref
        for one in schema.values():
            yield from _refs(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from _refs(one)


def _good(operation: Json) -> tuple[str, Json]:
    return next((status, one) for status, one in operation["responses"].items() if status.startswith("2"))


def _content(message: Json) -> Json:
    content: Json = next(iter(message.get("content", {}).values()), {})
    schema: Json = content.get("schema", {})
    return schema
