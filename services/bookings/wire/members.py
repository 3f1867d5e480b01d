"""Members, memberships and purchases. A profile leaves out the phone number, suspension and staff notes."""

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from services.bookings.wire.field_types import Currency, Money, Name, Reason
from shared.phones import Phone
from shared.wire import Body, Email, Id, Instant, PageQuery, Resource, in_utc


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


class MembershipStatus(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    PAUSED = "paused"
    PAST_DUE = "past_due"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Pause(Resource, kw_only=True):
    """Kept as JSON: whatever offset an import wrote, its instants are in UTC."""

    paused_at: Instant
    resumes_at: Instant | None
    reason: str | None

    def __post_init__(self) -> None:
        self.paused_at = in_utc(self.paused_at)
        self.resumes_at = in_utc(self.resumes_at) if self.resumes_at else None


class Cancellation(Resource, kw_only=True):
    requested_at: Instant
    effective_at: Instant
    at_period_end: bool
    reason: str | None

    def __post_init__(self) -> None:
        self.requested_at = in_utc(self.requested_at)
        self.effective_at = in_utc(self.effective_at)


class Membership(Resource, kw_only=True):
    id: Id
    object: Literal["membership"] = "membership"
    member_id: Id
    product_id: Id
    status: MembershipStatus
    auto_renew: bool
    state_version: Annotated[int, Meta(description="Increases by one with each change.")]
    pause: Pause | None
    cancellation: Cancellation | None


class MembershipPause(Body, frozen=True, kw_only=True):
    resumes_at: Instant | None = None
    reason: Reason | None = None


class MembershipCancel(Body, frozen=True, kw_only=True):
    at_period_end: bool = False
    reason: Reason | None = None


class PurchaseStatus(StrEnum):
    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PARTIALLY_REFUNDED = "partially_refunded"
    REFUNDED = "refunded"


class Purchase(Resource, kw_only=True):
    id: Id
    object: Literal["purchase"] = "purchase"
    member_id: Id
    product_id: Id | None
    product_key: str
    product_type: str
    quantity: int
    amount_total: Money | None
    currency: str | None
    refunded_amount: Money | None
    status: PurchaseStatus | None
    created_at: Instant


class PurchasesQuery(PageQuery, frozen=True, kw_only=True):
    member_id: Id | None = None


class PurchaseCreate(Body, frozen=True, kw_only=True):
    """A completed purchase grants quantity × the product's credits, once."""

    id: Id | None = None
    member_id: Id
    product_id: Id
    quantity: Annotated[int, Meta(ge=1, le=1000)] = 1
    amount_total: Money | None = None
    currency: Currency | None = None
    status: PurchaseStatus = PurchaseStatus.COMPLETED
    location_id: Id | None = None


class Erased(Resource, kw_only=True):
    """How many members were anonymized, and the emails and ids that this service had for the person."""

    members: int
    emails: list[str]
    member_ids: list[str]
