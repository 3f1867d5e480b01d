"""Bytes → typed structs, or `Invalid` with every problem's place. No route decodes by hand."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, get_args
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from shared.errors import Invalid, Problem
from shared.http.instants import refuse_far_instants
from shared.http.json_faults import DEEPEST, faults_of, refuse_depth, refuse_nul
from shared.wire import is_id

T = TypeVar("T")
MOST_PARAMETERS = 100
LONGEST_KEPT_QUERY = 256

_AT = re.compile(r" - at `(\$[^`]*)`\Z")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_MISSING = re.compile(r"Object missing required field `([^`]+)`")
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]+)`")
_SPACE_OFFSET = re.compile(r"(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?) (\d\d:?\d\d)\Z")
# The kinds of problem, told from msgspec's sentence; the first that fits names the type.
_KINDS = (
    ("timezone component", "timezone_aware"),
    ("datetime", "datetime_parsing"),
    ("UUID", "uuid_parsing"),
    ("[0-9a-fA-F]{8}-", "uuid_parsing"),
    ("matching regex", "string_pattern_mismatch"),
    ("`str` of length >=", "string_too_short"),
    ("`str` of length <=", "string_too_long"),
    ("of length >=", "too_short"),
    ("of length <=", "too_long"),
    (">=", "too_small"),
    ("<=", "too_large"),
    ("Invalid enum value", "enum"),
    ("out of range", "number_out_of_range"),
    ("Expected `str`", "string_type"),
    ("Expected `int`", "int_parsing"),
    ("Expected `bool`", "bool_parsing"),
    ("Expected `float`", "float_parsing"),
    ("Expected `object`", "object_type"),
    ("Expected `array`", "list_type"),
)


def decode_body(kind: type[T], raw: bytes, *, look_inside: bool = True) -> T:
    """A JSON body as `kind`. All problems of the top level are reported, not the first one only.

    An import's batch is not refused whole for a NUL in one of its lines: each line is looked at on its own.
    """
    if look_inside:
        refuse_depth(raw, ("body",))
    try:
        value = msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as problem:
        raise Invalid(_all_problems(kind, raw, problem)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        broken = Problem(("body",), f"The body is not valid JSON: {problem}", "json_invalid")
        raise Invalid(faults_of(raw, ("body",)) or [broken]) from None
    except RecursionError:
        text = f"Nested too deeply; at most {DEEPEST} levels are read."
        raise Invalid([Problem(("body",), text, "json_invalid")]) from None
    if look_inside and b"\\u0000" in raw:
        refuse_nul(msgspec.json.decode(raw), ("body",))
    refuse_far_instants(value, ("body",))
    return lower_ids(value)


def decode_query(kind: type[T], raw: bytes) -> T:
    """Partners repeat themselves: a short query is decoded once. It was a fifth of a list's own work."""
    if len(raw) > LONGEST_KEPT_QUERY:
        return _decoded(kind, raw)
    query: T = _kept(kind, raw)
    return query


def _decoded(kind: type[T], raw: bytes) -> T:
    try:
        text = raw.decode("ascii")
        if text.count("&") >= MOST_PARAMETERS:
            message = f"At most {MOST_PARAMETERS} query parameters are taken."
            raise Invalid([Problem(("query",), message, "value_error")])
        values = dict(parse_qsl(text, keep_blank_values=True, errors="strict"))
    except ValueError:
        raise Invalid([Problem(("query",), "The query string is not valid UTF-8.", "value_error")]) from None
    for name, value in values.items():
        if "\x00" in value:
            raise Invalid([Problem(("query", name), "Text must not hold NUL.", "value_error")])
        # An offset's plus that was not percent-encoded arrives as a space.
        values[name] = _SPACE_OFFSET.sub(r"\1+\2", value)
    try:
        return lower_ids(msgspec.convert(_typed(kind, values), kind))
    except msgspec.ValidationError as problem:
        raise Invalid(
            _each_field(kind, _typed(kind, values), ("query",)) or [_problem(problem, ("query",))]
        ) from None


# Queries are frozen, so that one can serve many requests. What is refused is not kept.
_kept: Callable[[Any, bytes], Any] = lru_cache(maxsize=1024)(_decoded)

_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
_BOOLEANS = {"true": True, "false": False}
_TYPED_FIELDS: dict[type, dict[str, type]] = {}


def _typed(kind: type, values: dict[str, str]) -> dict[str, Any]:
    """Numbers and booleans out of a query's texts; msgspec's lax mode would take `null`, `1e1` and epochs."""
    wanted = _TYPED_FIELDS.get(kind)
    if wanted is None:
        wanted = _TYPED_FIELDS[kind] = {
            field.name: base
            for field in msgspec.structs.fields(kind)
            for base in (bool, int)
            if _holds(field.type, base)
        }
    typed: dict[str, Any] = dict(values)
    for name, base in wanted.items():
        text = values.get(name)
        if text is not None and base is int and _WHOLE.match(text):
            typed[name] = int(text)
        elif text is not None and base is bool:
            typed[name] = _BOOLEANS.get(text.lower(), text)
    return typed


def _holds(kind: Any, base: type) -> bool:
    return kind is base or any(_holds(part, base) for part in get_args(kind) if not isinstance(part, str))


def path_id(name: str, text: str) -> str:
    if not is_id(text):
        raise Invalid([Problem(("path", name), "An id is a UUID.", "uuid_parsing")])
    return text.lower()


_ID_FIELDS: dict[type, tuple[str, ...]] = {}


def lower_ids(value: T) -> T:
    """Ids are compared as text, so their case is settled here, once."""
    if not isinstance(value, Struct):
        return value
    kind = type(value)
    names = _ID_FIELDS.get(kind)
    if names is None:
        names = _ID_FIELDS[kind] = tuple(
            field.name for field in msgspec.structs.fields(kind) if _holds_id(field.type)
        )
    for name in names:
        text = getattr(value, name)
        if isinstance(text, str) and text != text.lower():
            msgspec.structs.force_setattr(value, name, text.lower())
    return value


def _holds_id(kind: Any) -> bool:
    metadata = getattr(kind, "__metadata__", ())
    if any((getattr(meta, "extra_json_schema", None) or {}).get("format") == "uuid" for meta in metadata):
        return True
    return any(_holds_id(part) for part in get_args(kind) if not isinstance(part, str))


def _all_problems(kind: type, raw: bytes, first: msgspec.ValidationError) -> list[Problem]:
    """msgspec stops at the first problem; a second look, field by field, costs only who was wrong."""
    try:
        values = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # msgspec does not name the keys of a free-form object on its way to a number that it cannot read.
        return faults_of(raw, ("body",)) or [_problem(first, ("body",))]
    if isinstance(values, dict) and isinstance(kind, type) and issubclass(kind, Struct):
        return _each_field(kind, values, ("body",)) or [_problem(first, ("body",))]
    return [_problem(first, ("body",))]


def _each_field(kind: type, values: dict[str, Any], loc: tuple[str, ...]) -> list[Problem]:
    problems: list[Problem] = []
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    for name, field in fields.items():
        if name not in values:
            if field.required:
                problems.append(Problem((*loc, name), "This field is required.", "missing"))
            continue
        try:
            msgspec.convert(values[name], field.type)
        except msgspec.ValidationError as problem:
            problems.append(_problem(problem, (*loc, name)))
    if kind.__struct_config__.forbid_unknown_fields:  # type: ignore[attr-defined]
        unknown = [name for name in values if name not in fields]
        problems += [Problem((*loc, name), "There is no such field.", "extra_forbidden") for name in unknown]
    return problems


def _problem(problem: msgspec.ValidationError, base: tuple[str | int, ...]) -> Problem:
    text = str(problem)
    loc = base
    if found := _AT.search(text):
        text = text[: found.start()]
        for name, index in _STEP.findall(found[1]):
            loc = (*loc, int(index) if index.isdigit() else (name or index))
    if missing := _MISSING.match(text):
        return Problem((*loc, missing[1]), "This field is required.", "missing")
    if unknown := _UNKNOWN.match(text):
        return Problem((*loc, unknown[1]), "There is no such field.", "extra_forbidden")
    kind = next((kind for part, kind in _KINDS if part in text), "value_error")
    if kind == "uuid_parsing":
        text = "An id is a UUID."
    if kind == "timezone_aware":
        text = "A date-time needs an offset or Z."
    return Problem(loc, text, kind)
