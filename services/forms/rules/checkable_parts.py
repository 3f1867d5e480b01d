"""The parts of a form's JSON that can be checked although others are wrong, to report every problem."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from services.forms.wire.fields import FieldType, FormField
from services.forms.wire.forms import MAX_FIELDS, FormSettings


def checkable_fields(sent: Raw | UnsetType) -> Sequence[FormField] | UnsetType:
    """Each at its index. A wrong property gets a value that passes every check."""
    items = msgspec.json.decode(sent) if isinstance(sent, Raw) else None
    if not isinstance(items, list) or len(items) > MAX_FIELDS:
        return UNSET
    return [_checkable_field(index, item) for index, item in enumerate(items)]


def _checkable_field(index: int, item: Any) -> FormField:
    right = _right_properties(FormField, item)
    if isinstance(item, dict) and "options" in item and "options" not in right:
        right["type"] = FieldType.TEXT
    # No request can hold this key: NUL is refused everywhere.
    return FormField(**{"key": f"\x00{index}", "label": "", "type": FieldType.TEXT} | right)


def checkable_settings(sent: Raw | UnsetType) -> FormSettings | UnsetType:
    values = msgspec.json.decode(sent) if isinstance(sent, Raw) else None
    return FormSettings(**_right_properties(FormSettings, values)) if isinstance(values, dict) else UNSET


def _right_properties(kind: type[Struct], values: Any) -> dict[str, Any]:
    right: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind) if isinstance(values, dict) else ():
        if field.encode_name in values:
            try:
                right[field.name] = msgspec.convert(values[field.encode_name], field.type)
            except msgspec.ValidationError:
                continue
    return right
