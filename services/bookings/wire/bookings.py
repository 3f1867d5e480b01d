"""Bookings with their cancellation receipts and previews, and waitlist entries."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import Meta

from services.bookings.wire.field_types import Money, Reason
from shared.wire import Body, Id, Instant, PageQuery, Query, Resource


class BookingStatus(StrEnum):
    HELD = "held"
    CONFIRMED = "confirmed"
    WAITLISTED = "waitlisted"
    CHECKED_IN = "checked_in"
    NO_SHOW = "no_show"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Booking(Resource, kw_only=True):
    id: Id
    object: Literal["booking"] = "booking"
    class_id: Id
    member_id: Id
    status: BookingStatus
    booking_source: Annotated[str | None, Meta(examples=["partner_api"])]
    class_spot_id: Id | None
    waitlist_position: Annotated[int | None, Meta(description="Position on the waitlist, while waitlisted.")]
    held_until: Annotated[Instant | None, Meta(description="When the hold ends, while held.")]
    created_at: Instant | None
    updated_at: Instant | None


class RosterQuery(PageQuery, frozen=True, kw_only=True):
    status: Annotated[
        BookingStatus | None, Meta(description="Left out: everybody but cancelled and expired bookings.")
    ] = None


class ClientRevoked(Body, frozen=True, kw_only=True):
    """A client that has no live key left."""

    studio_id: Id
    client_id: str


class Released(Resource, kw_only=True):
    """In how many classes."""

    classes: int


class BookingCancel(Body, frozen=True, kw_only=True):
    reason: Reason | None = None


class BookingCreate(Body, frozen=True, kw_only=True):
    class_id: Id
    member_id: Id
    join_waitlist: Annotated[bool, Meta(description="Join the waitlist when the class is full.")] = False
    class_spot_id: Id | None = None
    hold_seconds: Annotated[
        Annotated[int, Meta(ge=30, le=900)] | None,
        Meta(
            description="Hold the seat for so long instead of booking it. Confirm it with `POST "
            "/bookings/{booking_id}/confirm`. Not together with `join_waitlist`."
        ),
    ] = None


# A page reads the bookings of each of them.
MAX_CLASSES_IN_RANGE = 1000


class BookingsQuery(PageQuery, frozen=True, kw_only=True):
    class_id: Id | None = None
    member_id: Id | None = None
    status: BookingStatus | None = None
    starts_after: Annotated[
        Instant | None, Meta(description="Only bookings of classes that start then or later; any offset.")
    ] = None
    starts_before: Annotated[
        Instant | None, Meta(description="Only bookings of classes that start earlier; any offset.")
    ] = None


class CancelQuery(Query, frozen=True, kw_only=True):
    reason: Reason | None = None
    max_late_fee: Annotated[Money | None, Meta(description="Cancel only if the fee is not higher.")] = None
    allow_credit_forfeit: Annotated[
        bool | None, Meta(description="`false`: cancel only if no credit is lost.")
    ] = None


FeeStatus = Literal["none", "assessed", "waived"]


class CancellationReceipt(Resource, kw_only=True):
    id: Annotated[Id | None, Meta(description="The id of the receipt; null in a preview.")]
    object: Literal["booking_cancellation"] = "booking_cancellation"
    booking_id: Id
    class_id: Id
    member_id: Id
    status: Literal["cancelled"] = "cancelled"
    cancelled_at: Instant
    reason: str | None
    late_cancel: bool
    free_cancel_until: Instant
    late_fee_amount: Money | None
    late_fee_currency: str | None
    late_fee_status: Annotated[FeeStatus, Meta(description="A fee is assessed, never charged, by this API.")]
    credit_forfeited: bool
    credits_forfeited: int
    credits_restored: int


class BookingMove(Body, frozen=True, kw_only=True):
    class_id: Annotated[Id, Meta(description="The class to move to.")]
    class_spot_id: Annotated[Id | None, Meta(description="A spot of that class.")] = None
    max_late_fee: Annotated[
        Money | None, Meta(description="Move only if the fee for leaving the old class is not higher.")
    ] = None
    allow_credit_forfeit: Annotated[
        bool | None, Meta(description="`false`: move only if no credit is lost.")
    ] = None


class RescheduleTerms(Resource, kw_only=True):
    """What leaving the old class cost: the fields of a cancellation receipt that tell the price."""

    late_cancel: bool
    free_cancel_until: Instant
    late_fee_amount: Money | None
    late_fee_currency: str | None
    late_fee_status: Annotated[FeeStatus, Meta(description="A fee is assessed, never charged, by this API.")]
    credit_forfeited: bool
    credits_forfeited: int
    credits_restored: int


class BookingReschedule(Resource, kw_only=True):
    id: Id
    object: Literal["booking_reschedule"] = "booking_reschedule"
    booking: Annotated[Booking, Meta(description="The booking. In a list, as it is now.")]
    from_class_id: Annotated[
        Id | None, Meta(description="The class that it left; null if the key may not see that class.")
    ]
    at: Instant
    terms: RescheduleTerms
    credits_charged: int

    @property
    def resource_id(self) -> str:
        return self.booking.id


class PreviewCheck(Resource, kw_only=True):
    code: str
    passed: bool
    details: dict[str, Any]


class BookingPreview(Resource, kw_only=True):
    object: Literal["booking_preview"] = "booking_preview"
    outcome: Literal["confirmed", "held", "waitlisted", "refused"]
    waitlist_position: int | None
    code: str | None
    checks: list[PreviewCheck]


class ReschedulePreview(Resource, kw_only=True):
    object: Literal["booking_reschedule_preview"] = "booking_reschedule_preview"
    outcome: Literal["rescheduled", "refused"]
    code: str | None
    checks: list[PreviewCheck]
    terms: Annotated[
        RescheduleTerms | None, Meta(description="Null for a booking that has no seat to leave.")
    ]


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
