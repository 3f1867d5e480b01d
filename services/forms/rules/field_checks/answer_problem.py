"""The types of a field check: it returns None or one finding."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from services.forms.rules.answer_values import Answer
from services.forms.wire.fields import FormField


class Finding(NamedTuple):
    msg: str
    type: str


class FieldContext(NamedTuple):
    """One visible field, and the country for phone numbers without a country code."""

    field: FormField
    region: str | None


Check: TypeAlias = Callable[[FieldContext, Answer], Finding | None]

ONE_TEXT = Finding("This field takes one string, not a list.", "string_type")
