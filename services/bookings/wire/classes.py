"""Class sessions and their spots."""

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from services.bookings.wire.field_types import Count, LongText, Name, ShortText
from shared.wire import Body, Id, Instant, PageQuery, Resource


class ClassStatus(StrEnum):
    SCHEDULED = "scheduled"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class SpotMode(StrEnum):
    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


class Class(Resource, kw_only=True):
    id: Id
    object: Literal["class"] = "class"
    title: str
    description: str | None
    class_type_id: Id | None
    location_id: Id | None
    room_id: Id | None
    instructor_id: Id | None
    start_time: Instant
    end_time: Instant
    capacity: Annotated[int, Meta(description="Maximum number of confirmed bookings.")]
    booked_count: Annotated[int, Meta(description="Confirmed and checked-in bookings.")]
    available_count: Annotated[int, Meta(description="For display only: booking checks again.")]
    allow_waitlist: bool
    spot_selection_mode: SpotMode | None
    status: ClassStatus
    visible: Annotated[bool, Meta(description="Hidden classes are listed but cannot be booked.")]


class ClassSpot(Resource, kw_only=True):
    id: Id
    object: Literal["class_spot"] = "class_spot"
    class_id: Id
    label: str
    order: int
    available: bool


class ClassesQuery(PageQuery, frozen=True, kw_only=True):
    starts_after: Annotated[Instant | None, Meta(description="Inclusive; any offset.")] = None
    starts_before: Annotated[Instant | None, Meta(description="Exclusive; any offset.")] = None
    location_id: Id | None = None
    status: ClassStatus | None = None


class ClassCreate(Body, frozen=True, kw_only=True):
    id: Id | None = None
    title: Name
    description: LongText | None = None
    class_type_id: Id | None = None
    location_id: Id | None = None
    room_id: Id | None = None
    instructor_id: Id | None = None
    start_time: Instant
    end_time: Instant
    capacity: Count
    allow_waitlist: bool = False
    waitlist_capacity: Count | None = None
    credit_cost: Count = 0
    spot_selection_mode: SpotMode | None = None
    visible: bool = True


class ClassChange(Body, frozen=True, kw_only=True):
    """Omitted fields stay unchanged. Cancelling a class is an operation of its own."""

    title: Name | UnsetType = UNSET
    description: LongText | UnsetType | None = UNSET
    class_type_id: Id | UnsetType | None = UNSET
    location_id: Id | UnsetType | None = UNSET
    room_id: Id | UnsetType | None = UNSET
    instructor_id: Id | UnsetType | None = UNSET
    start_time: Instant | UnsetType = UNSET
    end_time: Instant | UnsetType = UNSET
    capacity: Count | UnsetType = UNSET
    allow_waitlist: bool | UnsetType = UNSET
    waitlist_capacity: Count | UnsetType | None = UNSET
    credit_cost: Count | UnsetType = UNSET
    spot_selection_mode: SpotMode | UnsetType | None = UNSET
    status: Literal["scheduled", "completed"] | UnsetType = UNSET
    visible: bool | UnsetType = UNSET


class ClassCancel(Body, frozen=True, kw_only=True):
    reason: ShortText | None = None
