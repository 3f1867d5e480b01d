"""A form's fields. Unknown properties are allowed and stored with the form."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

FieldKey = Annotated[str, Meta(min_length=1, max_length=200)]
Line = Annotated[str, Meta(max_length=2_000)]
Words = Annotated[str, Meta(max_length=10_000)]


class FieldType(StrEnum):
    TEXT = "text"
    TEXTAREA = "textarea"
    NUMBER = "number"
    EMAIL = "email"
    PHONE = "phone"
    DATE = "date"
    SELECT = "select"
    CHECKBOX = "checkbox"
    CHECKBOX_GROUP = "checkbox_group"
    SIGNATURE = "signature"
    FILE_UPLOAD = "file_upload"
    ADDRESS = "address"
    RATING = "rating"
    SECTION_BREAK = "section_break"
    CONSENT = "consent"


class Operator(StrEnum):
    EQ = "eq"
    NEQ = "neq"
    IN = "in"
    NOT_IN = "not_in"
    CONTAINS = "contains"
    NOT_CONTAINS = "not_contains"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    EMPTY = "empty"
    NOT_EMPTY = "not_empty"


class ConditionalRule(Struct, frozen=True, kw_only=True):
    """Show the field only if the controlling field's answer matches."""

    field_key: FieldKey
    op: Operator
    value: Any = None


class FormField(Struct, frozen=True, kw_only=True):
    key: FieldKey
    label: Words
    type: FieldType
    required: bool = False
    placeholder: Line | None = None
    options: Annotated[list[Any], Meta(max_length=1_000)] | None = None
    options_layout: Literal["select", "buttons"] | None = None
    order: int = 0
    help_text: Words | None = None
    display_when: ConditionalRule | None = None
    step_index: int | None = None
    signature_purpose: Line | None = None
    consent_policy_slug: Line | None = None
    consent_policy_version: Line | None = None
    consent_label: Words | None = None
    accept: Line | None = None
    max_file_size: Annotated[int, Meta(ge=0)] | None = None
    multiple: bool | None = None
    max_rating: Annotated[int, Meta(ge=1, le=1_000)] | None = None
    min: int | float | None = None
    max: int | float | None = None
