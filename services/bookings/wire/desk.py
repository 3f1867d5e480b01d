"""What a studio's desk sends and reads beyond what partners do."""

from typing import Annotated

from msgspec import Meta

from services.bookings.wire.bookings import Booking, BookingsQuery, CancellationReceipt
from services.bookings.wire.field_types import Name
from services.bookings.wire.members import MembershipStatus, MembersQuery
from shared.wire import Body, Email, Id, Instant

Override = Annotated[
    bool, Meta(description="When the class is full, raise its capacity by one. Needs the role `manager`.")
]


class NewMember(Body, frozen=True, kw_only=True):
    first_name: Name
    last_name: Name
    email: Email


class WalkIn(Body, frozen=True, kw_only=True):
    class_id: Id
    member_id: Annotated[Id | None, Meta(description="Who comes. Left out when `member` is given.")] = None
    member: Annotated[
        NewMember | None, Meta(description="Somebody new, who becomes a member in the same step.")
    ] = None
    class_spot_id: Id | None = None
    join_waitlist: Annotated[bool, Meta(description="Join the waitlist when the class is full.")] = False
    check_in: Annotated[
        bool, Meta(description="Check the member in at once. Whoever has to wait is not checked in.")
    ] = False
    override_capacity: Override = False


class Promote(Body, frozen=True, kw_only=True):
    override_capacity: Override = False


class RosterEntry(Booking, kw_only=True):
    """A booking with what the desk has to know of the person."""

    member_name: str
    member_email: str | None
    checked_in_at: Annotated[Instant | None, Meta(description="When the member was checked in.")]
    credits: Annotated[int, Meta(description="Credits that are left to book with.")]
    suspended: bool
    membership_type: str | None
    membership_status: Annotated[
        MembershipStatus | None, Meta(description="Of the membership that covers the class; null for none.")
    ]
    first_visit: Annotated[bool, Meta(description="The member was never checked in to another class.")]


class StaffBooking(Booking, kw_only=True):
    """A booking with its names and, once it is cancelled, what that cost."""

    member_name: str
    class_title: str
    start_time: Annotated[Instant, Meta(description="When the class starts.")]
    late_cancel: Annotated[
        bool | None, Meta(description="Whether it was cancelled late; null for no receipt.")
    ]
    receipt: CancellationReceipt | None


MAX_CANCELLED = 1000


class StaffBookingsQuery(BookingsQuery, frozen=True, kw_only=True):
    cancelled_since: Annotated[
        Instant | None,
        Meta(
            description="Only bookings that were cancelled then or later. Without `class_id` or `member_id` "
            f"at most {MAX_CANCELLED:,} cancellations may follow; an earlier time returns 422."
        ),
    ] = None


class StaffMembersQuery(MembersQuery, frozen=True, kw_only=True):
    q: Annotated[
        Annotated[str, Meta(min_length=1, max_length=100)] | None,
        Meta(
            description="Only members whose first name, last name, email or phone begins with this, "
            "by name. Such a search has one page."
        ),
    ] = None
