"""Memberships with their pause and cancellation."""

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from services.bookings.wire.field_types import Reason
from shared.wire import Body, Id, Instant, Resource, in_utc


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
