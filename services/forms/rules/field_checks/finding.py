"""What a check answers: nothing, or one finding."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from services.forms.rules.answer_values import Answer
from services.forms.wire.fields import FormField


class Finding(NamedTuple):
    msg: str
    type: str


class FieldContext(NamedTuple):
    """One visible field, and the country whose own way of writing phone numbers is understood."""

    field: FormField
    region: str | None


Check: TypeAlias = Callable[[FieldContext, Answer], Finding | None]

ONE_TEXT = Finding("This field takes one text, not a list.", "string_type")
