"""Forms with their fields: the resource, and the bodies that write it."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from shared.http.decoding import decode_body
from shared.wire import Body, Email, Id, Instant, PageQuery, Query, Resource

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


# Not only blanks.
Title = Annotated[str, Meta(min_length=1, max_length=300, pattern=r"\S")]
# Ends in a lookahead, because Python's `$` allows a trailing newline; JSON Schema supports it too.
Slug = Annotated[str, Meta(max_length=120, pattern=r"^[a-z0-9][a-z0-9_-]*(?![\s\S])")]
Description = Annotated[str, Meta(max_length=10_000)]
# rules/form_definition.py limits their number in a sentence of its own; the document says it, too.
MAX_FIELDS = 500
Fields = Annotated[list[FormField], Meta(extra_json_schema={"maxItems": MAX_FIELDS})]

# The OpenAPI document shows the structs; at run time the studio's JSON passes through unchanged.
FieldsJson = Annotated[
    msgspec.Raw,
    Meta(extra_json_schema={"type": "array", "items": {"$ref": "#/components/schemas/FormField"}}),
]
SettingsJson = Annotated[msgspec.Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/FormSettings"})]


# rules/form_definition.py refuses others in a sentence of its own.
RedirectUrl = Annotated[
    str, Meta(max_length=2_000, extra_json_schema={"pattern": r"^https://[^\s\x00/?#]+[^\s\x00]*$"})
]


class FormStatus(StrEnum):
    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


class FormSettings(Struct, frozen=True, kw_only=True):
    """The known keys; any other key is stored and returned."""

    confirmation_message: Annotated[str, Meta(max_length=10_000)] | None = None
    redirect_url: RedirectUrl | None = None
    require_authentication: bool | None = None
    notify_on_submission: bool | None = None
    notification_emails: Annotated[list[Email], Meta(max_length=100)] | None = None
    closes_at: Instant | None = None
    max_submissions: Annotated[int, Meta(ge=0, le=1_000_000_000)] | None = None
    one_submission_per_email: bool | None = None


class Form(Resource, kw_only=True):
    id: Id
    object: Literal["form"] = "form"
    title: str
    slug: str
    description: str | None
    fields: FieldsJson
    settings: SettingsJson
    status: FormStatus
    version: int


IncludeDrafts = Annotated[
    bool, Meta(description="Include draft and archived forms; needs the scope forms:write.")
]


class DraftsQuery(Query, frozen=True, kw_only=True):
    include_drafts: IncludeDrafts = False


class FormsQuery(PageQuery, frozen=True, kw_only=True):
    include_drafts: IncludeDrafts = False


class PartnerFormCreate(Body, frozen=True, kw_only=True):
    title: Title
    slug: Slug | UnsetType = UNSET
    description: Description | None = None
    fields: Fields = field(default_factory=list)
    settings: FormSettings = FormSettings()
    status: Literal["draft", "published"] = "draft"


class StudioFormUpdate(Body, frozen=True, kw_only=True):
    """Omitted properties stay unchanged; `fields` and `settings` are replaced as a whole."""

    title: Title | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    fields: Fields | UnsetType = UNSET
    settings: FormSettings | UnsetType = UNSET
    status: FormStatus | UnsetType = UNSET


class RawFormJson(Struct, frozen=True):
    """The same body with the studio's JSON as it was sent."""

    fields: msgspec.Raw | UnsetType = UNSET
    settings: msgspec.Raw | UnsetType = UNSET


def raw_form_json(body: bytes) -> RawFormJson:
    """Decodes the whole body first: a struct skips unknown keys unchecked, but they are stored too."""
    decode_body(Any, body)
    return msgspec.json.decode(body, type=RawFormJson)


# Decimals, so that numbers in options and rules keep their digits.
_fields_decoder = msgspec.json.Decoder(list[FormField], float_hook=Decimal)


def fields_of(form: Form) -> list[FormField]:
    return _fields_decoder.decode(form.fields)


def settings_of(form: Form) -> FormSettings:
    return msgspec.json.decode(form.settings, type=FormSettings)
