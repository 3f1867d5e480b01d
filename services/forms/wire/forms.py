"""Forms: what is read, what is written."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from services.forms.wire.fields import FormField
from shared.http.decoding import decode_body
from shared.wire import Body, Email, Id, Instant, PageQuery, Query, Resource

# Something to read: blanks alone are no title.
Title = Annotated[str, Meta(min_length=1, max_length=300, pattern=r"\S")]
# Ends in a lookahead, since Python's `$` would let a newline pass; JSON Schema's dialect knows it too.
Slug = Annotated[str, Meta(max_length=120, pattern=r"^[a-z0-9][a-z0-9_-]*(?![\s\S])")]
Description = Annotated[str, Meta(max_length=10_000)]
# More than 500 are refused by the rules, in a sentence of their own.
Fields = list[FormField]

# The document names the structs; at run time the studio's own JSON goes through untouched.
FieldsJson = Annotated[
    msgspec.Raw,
    Meta(extra_json_schema={"type": "array", "items": {"$ref": "#/components/schemas/FormField"}}),
]
SettingsJson = Annotated[msgspec.Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/FormSettings"})]


class FormStatus(StrEnum):
    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


class FormSettings(Struct, frozen=True, kw_only=True):
    """The keys with a meaning; any other key is kept and given back."""

    confirmation_message: Annotated[str, Meta(max_length=10_000)] | None = None
    redirect_url: Annotated[str, Meta(max_length=2_000)] | None = None
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
    bool, Meta(description="Draft and archived forms too; needs the scope forms:write.")
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
    """What is left out stays; `fields` and `settings` replace whole."""

    title: Title | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    fields: Fields | UnsetType = UNSET
    settings: FormSettings | UnsetType = UNSET
    status: FormStatus | UnsetType = UNSET


class RawFormJson(Struct, frozen=True):
    """The same body once more, with the studio's JSON left as it was sent."""

    fields: msgspec.Raw | UnsetType = UNSET
    settings: msgspec.Raw | UnsetType = UNSET


def raw_form_json(body: bytes) -> RawFormJson:
    """Read whole first: what a struct skips as unknown is not looked at, and it is kept here all the same."""
    decode_body(Any, body)
    return msgspec.json.decode(body, type=RawFormJson)


# Numbers among options and in rules' values keep their digits: 1.10 is not the nearest binary fraction.
_fields_decoder = msgspec.json.Decoder(list[FormField], float_hook=Decimal)


def fields_of(form: Form) -> list[FormField]:
    return _fields_decoder.decode(form.fields)


def settings_of(form: Form) -> FormSettings:
    return msgspec.json.decode(form.settings, type=FormSettings)


FormDraft = dict[str, Any]
