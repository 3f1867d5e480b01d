"""Decodes bytes into typed structs, or raises `Invalid` with the location of every problem."""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Generic, TypeVar, cast, get_args
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from shared.errors import Invalid, Problem
from shared.http.body_problems import (
    all_problems,
    fields_without_problems,
    holds_format,
    is_struct,
    not_yet_reported,
    problem_at,
    valid_fields,
    value_problems,
    with_whole_numbers,
)
from shared.http.json_limits import MAX_DEPTH, nul_problems, refuse_depth, unreadable_values
from shared.wire import Query, is_id

T = TypeVar("T")
Q = TypeVar("Q", bound=Query)
MAX_PARAMETERS = 100
MAX_CACHED_QUERY = 256
MAX_READ_LENIENTLY = 32 * 1024

_SPACE_OFFSET = re.compile(r"(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?) (\d\d:?\d\d)\Z")


BODY = ("body",)


class BodyRead(Struct, Generic[T], frozen=True):
    """A body, or its problems and the fields that are valid."""

    body: T | None
    problems: list[Problem] = []
    valid_fields: dict[str, Any] | None = None


def decode_body(kind: type[T], raw: bytes, *, check_limits: bool = True) -> T:
    """A JSON body as `kind`, or `Invalid` with all its problems."""
    read = read_body_as(kind, raw, check_limits=check_limits)
    if read.problems:
        raise Invalid(read.problems)
    body: Any = read.body
    return cast(T, body)


def read_body_as(kind: type[T], raw: bytes, *, check_limits: bool = True) -> BodyRead[T]:
    """Broken JSON is a single problem. Otherwise every problem is reported.

    A batch of an import is not refused as a whole for a NUL in one line: each line is checked on its own.
    """
    if check_limits:
        refuse_depth(raw, BODY)
    try:
        value = decode_json(kind, raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return _refused(kind, raw, problem)
    problems = nul_problems(msgspec.json.decode(raw), BODY) if check_limits and b"\\u0000" in raw else []
    problems += value_problems(value, BODY)
    if problems:
        return BodyRead(
            None, problems, valid_fields(kind, with_whole_numbers(kind, msgspec.json.decode(raw)), problems)
        )
    return BodyRead(lower_ids(value))


def decode_json(kind: Any, raw: bytes) -> Any:
    """Like msgspec, but `1.0` is an integer too. Only a body that msgspec refuses is decoded again."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as problem:
        if "Expected `int" not in str(problem):
            raise
        return msgspec.convert(with_whole_numbers(kind, msgspec.json.decode(raw)), kind)


def _refused(kind: type[T], raw: bytes, first: Exception) -> BodyRead[T]:
    """The decoder stops at the first problem, so a body that it refuses is examined again."""
    problems: list[Problem] = []
    try:
        values = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        # For the largest body that takes 30 ms, in which nobody else is served.
        if len(raw) <= MAX_READ_LENIENTLY:
            values, problems = unreadable_values(raw, BODY)
        if not problems:
            return BodyRead(None, [_broken(problem)])
    values = with_whole_numbers(kind, values)
    if b"\\u0000" in raw:
        problems += nul_problems(values, BODY)
    if not isinstance(values, dict) or not is_struct(kind):
        only = problem_at(first, BODY) if isinstance(first, msgspec.ValidationError) else _broken(first)
        return BodyRead(None, problems or [only])
    problems += not_yet_reported(
        all_problems(kind, fields_without_problems(values, problems), BODY), problems
    )
    return BodyRead(None, problems, valid_fields(kind, values, problems))


def _broken(problem: Exception) -> Problem:
    if isinstance(problem, RecursionError):
        return Problem(BODY, f"Nested too deeply; at most {MAX_DEPTH} levels are read.", "json_invalid")
    return Problem(BODY, f"The body is not valid JSON: {problem}", "json_invalid")


def decode_query(kind: type[Q], raw: bytes) -> Q:
    """Short queries are cached, because partners repeat them: decoding was a fifth of a list's own work."""
    if len(raw) > MAX_CACHED_QUERY:
        return _decode(kind, raw)
    query: Q = _decode_cached(kind, raw)
    return query


def _decode(kind: type[Q], raw: bytes) -> Q:
    try:
        text = raw.decode("ascii")
        if text.count("&") >= MAX_PARAMETERS:
            message = f"At most {MAX_PARAMETERS} query parameters are taken."
            raise Invalid([Problem(("query",), message, "value_error")])
        values = dict(parse_qsl(text, keep_blank_values=True, errors="strict"))
    except ValueError:
        raise Invalid([Problem(("query",), "The query string is not valid UTF-8.", "value_error")]) from None
    # The plus sign of an offset arrives as a space if it was not percent-encoded.
    values = {name: _SPACE_OFFSET.sub(r"\1+\2", value) for name, value in values.items()}
    problems = nul_problems(values, ("query",)) if "%00" in text else []
    given = _typed(kind, values)
    try:
        query = msgspec.convert(given, kind)
    except msgspec.ValidationError as problem:
        found = all_problems(kind, given, ("query",)) or [problem_at(problem, ("query",))]
        problems += not_yet_reported(found, problems)
    conflicts = [Problem(("query", name), text, "value_error") for name, text in kind.conflicts(given)]
    problems += not_yet_reported(conflicts, problems)
    if problems:
        raise Invalid(problems)
    return lower_ids(query)


# Queries are frozen, so many requests can share one. Refused queries are not cached.
_decode_cached: Callable[[Any, bytes], Any] = lru_cache(maxsize=1024)(_decode)

# As long as the longest number of 64 bits; the field's own bounds refuse what is beyond them.
_WHOLE = re.compile(r"-?[0-9]{1,19}\Z")
_BOOLEANS = {"true": True, "false": False}


@cache
def _typed_fields(kind: type) -> dict[str, type]:
    fields = msgspec.structs.fields(kind)
    return {field.name: base for field in fields for base in (bool, int) if _holds(field.type, base)}


def _typed(kind: type, values: dict[str, str]) -> dict[str, Any]:
    """A query's strings as numbers and booleans. msgspec's lax mode would accept `null`, `1e1` and epochs."""
    typed: dict[str, Any] = dict(values)
    for name, base in _typed_fields(kind).items():
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


@cache
def _id_fields(kind: type[Struct]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(kind) if holds_format(field.type, "uuid"))


def lower_ids(value: T) -> T:
    """Ids are compared as text, so they are lower-cased here, once."""
    if isinstance(value, Struct):
        for name in _id_fields(type(value)):
            text = getattr(value, name)
            if isinstance(text, str) and text != text.lower():
                msgspec.structs.force_setattr(value, name, text.lower())
    return value
