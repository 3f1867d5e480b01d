"""Waitlist entries."""

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from shared.wire import Id, PageQuery, Resource


class WaitlistStatus(StrEnum):
    WAITING = "waiting"
    CONVERTED = "converted"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    SKIPPED = "skipped"


class WaitlistEntry(Resource, kw_only=True):
    id: Id
    object: Literal["waitlist"] = "waitlist"
    class_id: Id
    member_id: Id
    position: Annotated[
        int,
        Meta(description="From 1, without gaps, among those waiting. An entry that leaves keeps its last."),
    ]
    status: WaitlistStatus
    converted_to_booking: bool


class WaitlistQuery(PageQuery, frozen=True, kw_only=True):
    class_id: Id | None = None
    member_id: Id | None = None
    status: WaitlistStatus | None = None
