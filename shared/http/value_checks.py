"""Checks for values of the right type that cannot be used: instants out of range, texts that are no emails.

JSON can contain instants that have no UTC form, and a row with such an instant can never be read again. So
they are refused before they are stored.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias, get_args

import msgspec
from msgspec import Struct

from shared.errors import Problem

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(3000, 1, 1, tzinfo=UTC)

Loc: TypeAlias = tuple[str | int, ...]
_FAR = f"An instant lies between the years {EARLIEST.year} and {LATEST.year}."
# Per struct: the fields that may hold an instant or an email, and whether their texts are emails.
_FIELDS: dict[type, tuple[tuple[str, bool], ...]] = {}


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
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from value_problems(item, (*loc, index), emails=emails)


def holds_emails(kind: Any) -> bool:
    """Whether strings of this type are emails. The fields of a struct are checked separately."""
    metadata = getattr(kind, "__metadata__", ())
    if any((getattr(meta, "extra_json_schema", None) or {}).get("format") == "email" for meta in metadata):
        return True
    return any(holds_emails(part) for part in get_args(kind))


def _why_no_email(text: str) -> str | None:
    # Not above: a service without emails does not have to load the rules for them.
    from shared.emails import normalize_email

    try:
        normalize_email(text)
    except ValueError as problem:
        return str(problem)
    return None


def _fields_to_check(kind: type[Struct]) -> tuple[tuple[str, bool], ...]:
    found = _FIELDS.get(kind)
    if found is None:
        fields = [field for field in msgspec.structs.fields(kind) if _may_hold(field.type, {kind})]
        found = _FIELDS[kind] = tuple((field.name, holds_emails(field.type)) for field in fields)
    return found


def _may_hold(kind: Any, seen: set[type]) -> bool:
    if isinstance(kind, type) and issubclass(kind, Struct):
        if kind in seen:
            return False
        return any(_may_hold(field.type, seen | {kind}) for field in msgspec.structs.fields(kind))
    if kind is datetime or holds_emails(kind):
        return True
    return any(_may_hold(part, seen) for part in get_args(kind))
