"""Leads: the resource, the bodies that write it, and the result of an erasure."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from services.forms.wire.json_text import JsonObject
from shared.http.pages import Page
from shared.phones import Phone
from shared.wire import Body, Email, Id, Instant, Resource

Name = Annotated[str, Meta(max_length=200)]
Source = Annotated[str, Meta(max_length=200)]
Notes = Annotated[str, Meta(max_length=5_000)]
DEFAULT_SOURCE = "partner_api"


class LeadStatus(StrEnum):
    NEW = "new"
    CONTACTED = "contacted"
    QUALIFIED = "qualified"
    CONVERTED = "converted"
    UNQUALIFIED = "unqualified"


class LifecycleStage(StrEnum):
    LEAD = "lead"
    TRIAL = "trial"
    MEMBER = "member"
    FORMER_MEMBER = "former_member"


class Lead(Resource, kw_only=True):
    id: Id
    object: Literal["lead"] = "lead"
    email: Email
    first_name: str
    source: str | None
    status: LeadStatus
    lifecycle_stage: LifecycleStage | None
    metadata: JsonObject
    created_at: Instant


class StaffLead(Lead, kw_only=True):
    """What only staff see. Partners can write notes and phone but never read them."""

    last_name: str | None
    phone: str | None
    notes: str | None
    version: int
    updated_at: Instant


def partner_view(lead: StaffLead) -> Lead:
    """What partners see: no phone, last name or notes."""
    return msgspec.convert(lead, Lead, from_attributes=True)


def partner_page(page: Page[StaffLead]) -> Page[Lead]:
    shown = [partner_view(lead) for lead in page.data]
    return Page(data=shown, has_more=page.has_more, next_cursor=page.next_cursor)


class LeadCreate(Body, frozen=True, kw_only=True):
    email: Email
    first_name: Name = ""
    source: Annotated[Source, Meta(extra_json_schema={"default": DEFAULT_SOURCE})] | UnsetType = UNSET
    metadata: dict[str, Any] = field(default_factory=dict)
    utm_source: Source | UnsetType = UNSET
    utm_campaign: Source | UnsetType = UNSET


class LeadUpdate(Body, frozen=True, kw_only=True):
    """Omitted properties stay unchanged; null clears."""

    first_name: Name | UnsetType = UNSET
    last_name: Name | UnsetType | None = UNSET
    phone: Phone | UnsetType | None = UNSET
    email: Email | UnsetType = UNSET
    status: LeadStatus | UnsetType = UNSET
    notes: Notes | UnsetType | None = UNSET
    metadata: Annotated[dict[str, Any], Meta(description="A JSON merge patch.")] | UnsetType = UNSET


class MutationResult(Resource, kw_only=True):
    id: Id
    object: Literal["lead"] = "lead"
    created: bool


class _Sent(Struct, frozen=True):
    metadata: msgspec.Raw | UnsetType = UNSET


def metadata_sent(body: bytes) -> msgspec.Raw | UnsetType:
    """The metadata of a validated body as it was sent, with unrounded numbers."""
    return msgspec.json.decode(body, type=_Sent).metadata


class Erased(Resource, kw_only=True):
    """How many rows were anonymized, and the emails and ids that this service had for the person."""

    leads: int
    submissions: int
    emails: list[str]
    lead_ids: list[str]
