"""Instants that every part can calculate with.

JSON can write others. Some have no UTC form, and a row that holds one can never be read again: they are
refused before they are stored.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias, get_args

import msgspec
from msgspec import Struct

from shared.errors import Invalid, Problem

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(3000, 1, 1, tzinfo=UTC)

Loc: TypeAlias = tuple[str | int, ...]
_FIELDS: dict[type, tuple[str, ...]] = {}


def refuse_far_instants(value: object, loc: Loc) -> None:
    """Of a decoded struct and what lies in it. A struct without instants costs one look into a dict."""
    if not isinstance(value, Struct) or not _fields_with_instants(type(value)):
        return
    text = f"An instant lies between the years {EARLIEST.year} and {LATEST.year}."
    problems = [Problem(place, text, "datetime_out_of_range") for place in _far_instants(value, loc)]
    if problems:
        raise Invalid(problems)


def _far_instants(value: object, loc: Loc) -> Iterator[Loc]:
    if isinstance(value, datetime):
        if not EARLIEST <= value < LATEST:
            yield loc
    elif isinstance(value, Struct):
        for name in _fields_with_instants(type(value)):
            yield from _far_instants(getattr(value, name), (*loc, name))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _far_instants(item, (*loc, index))


def _fields_with_instants(kind: type[Struct]) -> tuple[str, ...]:
    names = _FIELDS.get(kind)
    if names is None:
        fields = msgspec.structs.fields(kind)
        names = _FIELDS[kind] = tuple(field.name for field in fields if _may_hold(field.type, {kind}))
    return names


def _may_hold(kind: Any, seen: set[type]) -> bool:
    if isinstance(kind, type) and issubclass(kind, Struct):
        if kind in seen:
            return False
        return any(_may_hold(field.type, seen | {kind}) for field in msgspec.structs.fields(kind))
    return kind is datetime or any(_may_hold(part, seen) for part in get_args(kind))
