"""The import lines that bookings owns or copies: the resource plus the columns that the API does not show.

Those columns may be left out; an existing row then keeps its values.
"""

from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from services.bookings.wire.bookings import BookingStatus, FeeStatus, WaitlistStatus
from services.bookings.wire.classes import ClassStatus, SpotMode
from services.bookings.wire.field_types import Count, Currency, LongText, Money, Reason, ShortText
from services.bookings.wire.members import Cancellation, MemberRole, MembershipStatus, Pause, PurchaseStatus
from shared.phones import Phone
from shared.wire import Email, Id, Instant

# A new row takes it over. It never decreases.
Version: TypeAlias = Annotated[int, Meta(ge=1, le=2_000_000_000)]
Credits: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]


class Copied(Struct, kw_only=True, tag_field="object"):
    """A resource of another service, which checks the rest of the line."""

    id: Id


class ImportedStudio(Copied, kw_only=True, tag="studio"):
    timezone: str | None = None
    late_window_minutes: Annotated[int, Meta(ge=0, le=525_600)] | UnsetType = UNSET
    late_fee_amount: Money | UnsetType | None = UNSET
    late_fee_currency: Currency | UnsetType | None = UNSET
    forfeit_credit: bool | UnsetType = UNSET


class ImportedLocation(Copied, kw_only=True, tag="location"):
    timezone: str | None = None


class ImportedProduct(Copied, kw_only=True, tag="product"):
    key: ShortText
    product_type: ShortText
    credits_granted: Count | None = None


class Imported(Struct, kw_only=True, forbid_unknown_fields=True, tag_field="object"):
    """Unknown fields are rejected, so that a misspelled one is reported and not lost."""

    id: Id
    studio_id: Id | None = None


class ImportedClass(Imported, kw_only=True, tag="class"):
    title: ShortText
    description: LongText | None = None
    class_type_id: Id | None = None
    location_id: Id | None = None
    room_id: Id | None = None
    instructor_id: Id | None = None
    start_time: Instant
    end_time: Instant
    capacity: Count
    booked_count: Any = UNSET
    available_count: Any = UNSET
    held_count: Any = UNSET
    timezone: Any = UNSET
    start_local: Any = UNSET
    allow_waitlist: bool = False
    spot_selection_mode: SpotMode | None = None
    status: ClassStatus = ClassStatus.SCHEDULED
    visible: bool = True
    credit_cost: Count | UnsetType = UNSET
    waitlist_capacity: Count | UnsetType | None = UNSET
    version: Version | UnsetType = UNSET


class ImportedSpot(Imported, kw_only=True, tag="class_spot"):
    class_id: Id
    label: ShortText
    order: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    available: Any = UNSET


class ImportedMember(Imported, kw_only=True, tag="member"):
    first_name: ShortText = ""
    last_name: ShortText = ""
    name: Annotated[str, Meta(max_length=401)] | None = None
    email: Email | None = None
    role: MemberRole = MemberRole.MEMBER
    membership_type: ShortText | None = None
    membership_start_date: Instant | None = None
    membership_end_date: Instant | None = None
    created_at: Instant | None = None
    phone: Phone | UnsetType | None = UNSET
    suspended: bool | UnsetType = UNSET
    credits: Credits = 0
    version: Version | UnsetType = UNSET


class ImportedMembership(Imported, kw_only=True, tag="membership"):
    member_id: Id
    product_id: Id
    status: MembershipStatus
    auto_renew: bool = False
    state_version: Annotated[int, Meta(ge=0, le=2_000_000_000)] = 1
    pause: Pause | None = None
    cancellation: Cancellation | None = None
    starts_at: Instant | UnsetType | None = UNSET
    ends_at: Instant | UnsetType | None = UNSET
    created_at: Instant | None = None


class ImportedPurchase(Imported, kw_only=True, tag="purchase"):
    member_id: Id
    product_id: Id | None = None
    product_key: ShortText
    product_type: ShortText
    quantity: Count = 1
    amount_total: Money | None = None
    currency: Currency | None = None
    refunded_amount: Money | None = None
    status: PurchaseStatus | None = None
    created_at: Instant | None = None
    location_id: Id | UnsetType | None = UNSET
    credits_granted: Credits | UnsetType | None = UNSET
    version: Version | UnsetType = UNSET


class ImportedReceipt(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a cancellation cost, as the receipt said."""

    id: Id
    cancelled_at: Instant
    reason: Reason | None = None
    late_cancel: bool
    free_cancel_until: Instant
    late_fee_amount: Money | None = None
    late_fee_currency: Currency | None = None
    late_fee_status: FeeStatus
    credits_forfeited: Count
    credits_restored: Count


class ImportedBooking(Imported, kw_only=True, tag="booking"):
    class_id: Id
    member_id: Id
    status: BookingStatus
    booking_source: ShortText | None = None
    class_spot_id: Id | None = None
    waitlist_position: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    held_until: UnsetType | None = UNSET
    credits_charged: Count | UnsetType = UNSET
    promoted_at: Instant | UnsetType | None = UNSET
    cancellation: ImportedReceipt | UnsetType | None = UNSET
    version: Version | UnsetType = UNSET
    created_at: Instant | None = None
    updated_at: Instant | None = None


class ImportedEntry(Imported, kw_only=True, tag="waitlist"):
    class_id: Id
    member_id: Id
    position: Annotated[int, Meta(ge=1, le=100_000)]
    status: WaitlistStatus
    converted_to_booking: Any = UNSET
    booking_id: Id | UnsetType | None = UNSET
    version: Version | UnsetType = UNSET
    created_at: Instant | None = None
    updated_at: Instant | None = None


AnyImported: TypeAlias = (
    ImportedStudio
    | ImportedLocation
    | ImportedProduct
    | ImportedClass
    | ImportedSpot
    | ImportedMember
    | ImportedMembership
    | ImportedPurchase
    | ImportedBooking
    | ImportedEntry
)
