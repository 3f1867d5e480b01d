"""Class sessions and their spots."""

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from services.bookings.wire.field_types import Count, LongText, Name, ShortText
from shared.wire import DEFAULT_PAGE_SIZE, UUID_PATTERN, Body, Cursor, Id, Instant, Query, Resource


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
    held_count: Annotated[int, Meta(description="Seats that are held while somebody pays.")]
    allow_waitlist: bool
    spot_selection_mode: SpotMode | None
    status: ClassStatus
    visible: Annotated[bool, Meta(description="Hidden classes are listed but cannot be booked.")]
    timezone: Annotated[str, Meta(description="The IANA time zone of its location, else the studio's.")]
    start_local: Annotated[
        str,
        Meta(
            description="When it starts by the clock there, without an offset.",
            examples=["2026-11-01T18:00:00"],
        ),
    ]


class ClassSpot(Resource, kw_only=True):
    id: Id
    object: Literal["class_spot"] = "class_spot"
    class_id: Id
    label: str
    order: int
    available: bool


MAX_IDS = 100
_ID_CHARACTERS = 36
_UUID = UUID_PATTERN.removeprefix("^").removesuffix(r"(?![\s\S])")
Ids = Annotated[
    str,
    Meta(pattern=rf"^{_UUID}(,{_UUID})*(?![\s\S])", max_length=MAX_IDS * (_ID_CHARACTERS + 1) - 1),
]


class ClassesQuery(Query, frozen=True, kw_only=True):
    cursor: Cursor = None
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=200)] | None,
        Meta(
            description="The maximum number of rows per page: 50, or 100 with `ids`, unless said otherwise. "
            "A page also ends at 512 KiB."
        ),
    ] = None
    ids: Annotated[
        Ids | None,
        Meta(
            description=f"At most {MAX_IDS} class ids, separated by commas, in any order. Those that do not "
            "exist or that the key may not see are left out."
        ),
    ] = None
    starts_after: Annotated[Instant | None, Meta(description="Inclusive; any offset.")] = None
    starts_before: Annotated[Instant | None, Meta(description="Exclusive; any offset.")] = None
    on: Annotated[
        date | None,
        Meta(description="Only classes that start on this day, by the clock of their location."),
    ] = None
    location_id: Id | None = None
    instructor_id: Annotated[Id | None, Meta(description="Only classes of this instructor.")] = None
    class_type_id: Annotated[Id | None, Meta(description="Only classes of this type.")] = None
    room_id: Annotated[Id | None, Meta(description="Only classes in this room.")] = None
    status: ClassStatus | None = None

    @property
    def page_size(self) -> int:
        if self.limit is not None:
            return self.limit
        return MAX_IDS if self.ids is not None else DEFAULT_PAGE_SIZE

    @property
    def wanted_ids(self) -> list[str] | None:
        return sorted(set(self.ids.lower().split(","))) if self.ids is not None else None


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
