"""JSON Schemas of the structs. Lists are named after their items; in answers every field is required."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from services.cli.openapi.descriptions import TEXTS, describe
from services.cli.openapi.request_schemas import (
    REF,
    default_in_words,
    default_is_always_present,
    portable_pattern,
    reachable,
    say_what_is_accepted,
)
from services.cli.openapi.schema_names import public_name
from shared.errors import Problem
from shared.events.event import EventResource
from shared.http.error_mapping import ErrorBody, ErrorInfo, ValidationErrorBody
from shared.http.pages import Page
from shared.wire import Body, Query, Resource

Json = dict[str, Any]
_BRACKETS = str.maketrans("[]", "__")
_PAGE = re.compile(r"Page_(\w+)_\Z")
_ANSWERS = (Resource, Page, ErrorBody, ErrorInfo, ValidationErrorBody, Problem, EventResource)


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
        answers = {public_name(kind.__name__) for kind in _structs(unique) if _is(kind, _ANSWERS)}
        for name, schema in self._components.items():
            if name in answers or name.endswith("List"):
                _always_present(schema)
        self._requests = reachable(
            self._components,
            (_target(self._by_type[repr(kind)]) for kind in unique if _is(kind, (Body, Query))),
        )
        for name in self._requests:
            say_what_is_accepted(self._components[name], in_body=name not in self._queries)

    def of(self, kind: Any) -> Json:
        return self._by_type[repr(kind)]

    def resolved(self, kind: Any) -> Json:
        return self._components[_target(self.of(kind))]

    def components(self, texts: dict[str, str] = TEXTS) -> Json:
        """All but those of query strings, each property with its description."""
        found = {name: schema for name, schema in self._components.items() if name not in self._queries}
        describe(found, texts)
        for name, schema in found.items():
            if name in self._requests:
                default_in_words(schema)
            else:
                default_is_always_present(schema)
        return found


def _is(kind: Any, bases: tuple[type, ...]) -> bool:
    origin = getattr(kind, "__origin__", kind)
    return isinstance(origin, type) and issubclass(origin, bases)


def _structs(types: Iterable[Any]) -> set[type[Struct]]:
    """The structs among the types, and those nested in them."""
    seen: set[Any] = set()
    todo = list(types)
    while todo:
        kind = todo.pop()
        todo.extend(getattr(kind, "__args__", ()))
        struct = getattr(kind, "__origin__", kind)
        if _is(struct, (Struct,)) and struct not in seen:
            seen.add(struct)
            todo.extend(field.type for field in msgspec.structs.fields(struct))
    return seen


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


def _always_present(schema: Json) -> None:
    """In an answer a default is only the constant value of a field. The field is never missing."""
    if "properties" in schema:
        schema["required"] = list(schema["properties"])
        for field in schema["properties"].values():
            if isinstance(field, dict):
                field.pop("default", None)
