"""Finds every problem of a value, with its location. msgspec stops at the first; this continues.

It runs only for requests that are refused.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from itertools import islice
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from shared.errors import MAX_PROBLEMS, Problem
from shared.http.json_limits import printable_key

Loc: TypeAlias = tuple[str | int, ...]

_AT = re.compile(r" - at `(\$[^`]*)`\Z")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_LENGTH = re.compile(r"Expected `array` of length <= \d+")
_MISSING = re.compile(r"Object missing required field `([^`]+)`")
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]+)`")
# The kinds of problem, recognised by msgspec's message. The first match gives the type.
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
    ("Expected `str", "string_type"),
    ("Expected `int", "int_parsing"),
    ("Expected `bool", "bool_parsing"),
    ("Expected `float", "float_parsing"),
    ("Expected `object", "object_type"),
    ("Expected `array", "list_type"),
)


def all_problems(kind: Any, value: Any, loc: Loc) -> list[Problem]:
    """In the order in which the fields are declared."""
    return list(_problems(kind, value, loc, emails=holds_emails(kind)))


def not_yet_reported(found: list[Problem], before: list[Problem]) -> list[Problem]:
    """Without problems inside a field that is already reported as unreadable."""
    reported = {problem.loc[:2] for problem in before}
    return [problem for problem in found if problem.loc[:2] not in reported]


def fields_without_problems(values: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The fields that have no problem."""
    named = {problem.loc[1] for problem in problems if len(problem.loc) > 1}
    if not named:
        return values
    return {name: value for name, value in values.items() if printable_key(name) not in named}


def valid_fields(kind: Any, values: Any, problems: list[Problem]) -> dict[str, Any]:
    """The converted values of the valid fields, which can be checked further although others are wrong."""
    if not is_struct(kind) or not isinstance(values, dict):
        return {}
    names = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    right = fields_without_problems({name: values[name] for name in names if name in values}, problems)
    return {names[name].name: msgspec.convert(value, names[name].type) for name, value in right.items()}


def is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _problems(kind: Any, value: Any, loc: Loc, *, emails: bool) -> Iterator[Problem]:
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        inside = False
        # The items of a list that is too long are not looked at: there may be thousands of emails.
        for found in () if _LENGTH.fullmatch(str(problem)) else _inside(kind, value, loc):
            inside = True
            yield found
        if not inside:
            yield problem_at(problem, loc)
    else:
        yield from value_problems(converted, loc, emails=emails)


def _inside(kind: Any, value: Any, loc: Loc) -> Iterator[Problem]:
    """Problems of the parts. None if the whole value is wrong: another type, or too many parts."""
    for part in _alternatives(kind):
        if isinstance(value, dict) and is_struct(part):
            yield from _in_struct(part, value, loc)
            return
        if isinstance(value, list) and get_origin(part) in (list, tuple):
            yield from islice(_in_list(get_args(part)[0], value, loc), MAX_PROBLEMS)
            return


def _in_list(kind: Any, values: list[Any], loc: Loc) -> Iterator[Problem]:
    emails = holds_emails(kind)
    for index, item in enumerate(values):
        yield from _problems(kind, item, (*loc, index), emails=emails)


def _in_struct(kind: type[Struct], values: dict[str, Any], loc: Loc) -> Iterator[Problem]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    for name, field in fields.items():
        if name in values:
            yield from _problems(field.type, values[name], (*loc, name), emails=holds_emails(field.type))
        elif field.required:
            yield Problem((*loc, name), "This field is required.", "missing")
    if kind.__struct_config__.forbid_unknown_fields:
        for name in values:
            if name not in fields:
                yield Problem((*loc, name), "There is no such field.", "extra_forbidden")


def _alternatives(kind: Any) -> Iterator[Any]:
    """The plain types behind `Annotated` and unions."""
    if get_origin(kind) is Annotated:
        yield from _alternatives(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for part in get_args(kind):
            yield from _alternatives(part)
    else:
        yield kind


def problem_at(problem: msgspec.ValidationError, base: Loc) -> Problem:
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


# Checks for values of the right type that cannot be used: instants out of range, texts that are no emails.
#
# JSON can contain instants that have no UTC form, and a row with such an instant can never be read again. So
# they are refused before they are stored.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(3000, 1, 1, tzinfo=UTC)

_FAR = f"An instant lies between the years {EARLIEST.year} and {LATEST.year}."


def value_problems(value: object, loc: Loc, *, emails: bool = False) -> Iterator[Problem]:
    """Problems of a decoded value and its parts. A struct without either kind costs one dict lookup."""
    if isinstance(value, Struct):
        for name, holds_emails in _fields_to_check(type(value)):
            yield from value_problems(getattr(value, name), (*loc, name), emails=holds_emails)
    elif isinstance(value, datetime):
        if not EARLIEST <= value < LATEST:
            yield Problem(loc, _FAR, "datetime_out_of_range")
    elif isinstance(value, str):
        if emails and (sentence := _why_no_email(value)):
            yield Problem(loc, sentence, "value_error")
    elif emails and isinstance(value, list) and (sentence := _why_not_all_emails(value)):
        yield Problem(loc, sentence, "value_error")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from value_problems(item, (*loc, index), emails=emails)


def holds_emails(kind: Any) -> bool:
    """Whether strings of this type are emails. The fields of a struct are checked separately."""
    return holds_format(kind, "email")


def holds_format(kind: Any, name: str) -> bool:
    """Whether the type, or a part of it, has this `format` in JSON Schema."""
    metadata = getattr(kind, "__metadata__", ())
    if any((getattr(meta, "extra_json_schema", None) or {}).get("format") == name for meta in metadata):
        return True
    return any(holds_format(part, name) for part in get_args(kind))


def _why_no_email(text: str) -> str | None:
    # Not above: a service without emails does not have to load the rules for them.
    from shared.emails import normalize_email

    try:
        normalize_email(text)
    except ValueError as problem:
        return str(problem)
    return None


def _why_not_all_emails(texts: list[Any]) -> str | None:
    from shared.emails import TOO_MANY_UNUSUAL, has_too_many_unusual

    return TOO_MANY_UNUSUAL if has_too_many_unusual(texts) else None


@cache
def _fields_to_check(kind: type[Struct]) -> tuple[tuple[str, bool], ...]:
    """The fields that may hold an instant or an email, and whether their texts are emails."""
    fields = [field for field in msgspec.structs.fields(kind) if _may_hold(field.type, {kind})]
    return tuple((field.name, holds_emails(field.type)) for field in fields)


def _may_hold(kind: Any, seen: set[type]) -> bool:
    if is_struct(kind):
        if kind in seen:
            return False
        return any(_may_hold(field.type, seen | {kind}) for field in msgspec.structs.fields(kind))
    if kind is datetime or holds_emails(kind):
        return True
    return any(_may_hold(part, seen) for part in get_args(kind))


# Accepts `1.0` as an integer, as JSON Schema does. Some languages write all numbers so.
# Where integers are expected: here, in the fields of an object, in the items of a list, or nowhere.
Places: TypeAlias = "bool | dict[str, Places] | list[Places]"
# None of our integers is larger, and a huge exponent would produce a huge integer.
_LIMIT = 2**63


def with_whole_numbers(kind: Any, value: Any) -> Any:
    """A decoded JSON value with integral floats as integers, wherever `kind` accepts only integers.

    Floats may be `msgspec.Raw`: their text, as JSON that is only passed on has them.
    """
    places = _places(kind, ())
    return _convert(value, places) if places else value


def _convert(value: Any, places: Any) -> Any:
    if places is True:
        return _whole(value) if isinstance(value, (float, msgspec.Raw)) else value
    if isinstance(places, dict) and isinstance(value, dict):
        found = {name: _convert(value[name], places[name]) for name in places if name in value}
        return {**value, **found} if found else value
    if isinstance(places, list) and isinstance(value, list):
        return [_convert(part, places[0]) for part in value]
    return value


def _whole(number: float | msgspec.Raw) -> float | msgspec.Raw | int:
    """Decimal keeps all digits of a number that is still text, and compares any exponent in no time."""
    exact = Decimal(bytes(number).decode()) if isinstance(number, msgspec.Raw) else number
    return int(exact) if -_LIMIT < exact < _LIMIT and exact == int(exact) else number


def _places(kind: Any, outer: tuple[Any, ...]) -> Places:
    """A struct nested in itself has none, since none of our bodies is recursive."""
    parts = list(_alternatives(kind))
    if int in parts:
        return float not in parts and Any not in parts
    for part in parts:
        if is_struct(part) and part not in outer:
            fields = msgspec.structs.fields(part)
            found = {field.encode_name: _places(field.type, (*outer, part)) for field in fields}
            return {name: inner for name, inner in found.items() if inner}
        if get_origin(part) is list and (inner := _places(get_args(part)[0], outer)):
            return [inner]
    return False
