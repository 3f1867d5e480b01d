"""Accepts `1.0` as an integer, as JSON Schema does. Some languages write all numbers so."""

from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import Struct

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
    parts = _alternatives(kind)
    if int in parts:
        return float not in parts and Any not in parts
    for part in parts:
        if isinstance(part, type) and issubclass(part, Struct) and part not in outer:
            fields = msgspec.structs.fields(part)
            found = {field.encode_name: _places(field.type, (*outer, part)) for field in fields}
            return {name: inner for name, inner in found.items() if inner}
        if get_origin(part) is list and (inner := _places(get_args(part)[0], outer)):
            return [inner]
    return False


def _alternatives(kind: Any) -> list[Any]:
    """The plain types behind `Annotated` and unions."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [found for part in get_args(kind) for found in _alternatives(part)]
    return [kind]
