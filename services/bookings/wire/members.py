"""Members. The profile leaves out the phone number, suspension and staff notes."""

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from services.bookings.wire.field_types import Name
from shared.phones import Phone
from shared.wire import Body, Email, Id, Instant, PageQuery, Resource


class MemberRole(StrEnum):
    """Whose profiles partners see; staff have none here."""

    MEMBER = "member"
    USER = "user"
    LEAD = "lead"


class Member(Resource, kw_only=True):
    id: Id
    object: Literal["member"] = "member"
    name: str
    first_name: str
    last_name: str
    email: Email | None
    role: MemberRole
    membership_type: Annotated[str | None, Meta(examples=["intro"])]
    membership_start_date: Instant | None
    membership_end_date: Instant | None
    created_at: Instant


class StaffMember(Member, kw_only=True):
    """What the desk sees of a member beyond the partners' profile."""

    phone: str | None
    suspended: bool
    credits: Annotated[int, Meta(description="Credits that are left to book with.")]


class MembersQuery(PageQuery, frozen=True, kw_only=True):
    email: Annotated[
        Email | None,
        Meta(description="Only the member with this email. Case and surrounding spaces do not matter."),
    ] = None


class MemberCreate(Body, frozen=True, kw_only=True):
    email: Email
    first_name: Name
    last_name: Name
    phone: Phone | None = None
