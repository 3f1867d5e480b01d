"""Form fields and rules in one line."""

from typing import Any

import msgspec

from services.forms.wire.forms import FormField


def make_field(key: str, type: str = "text", **properties: Any) -> FormField:
    return msgspec.convert({"key": key, "label": key, "type": type, **properties}, FormField)


def show_when(key: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"field_key": key, "op": op, "value": value}
