"""What a studio's desk sends and reads beyond what partners do. Its texts are in operators.toml."""

from typing import Annotated

from msgspec import Meta

from services.bookings.wire.bookings import Booking, BookingsQuery, CancellationReceipt
from services.bookings.wire.field_types import Name
from services.bookings.wire.members import MembershipStatus, MembersQuery
from shared.wire import Body, Email, Id, Instant


class NewMember(Body, frozen=True, kw_only=True):
    first_name: Name
    last_name: Name
    email: Email


class WalkIn(Body, frozen=True, kw_only=True):
    class_id: Id
    member_id: Id | None = None
    member: NewMember | None = None
    class_spot_id: Id | None = None
    join_waitlist: bool = False
    check_in: bool = False
    override_capacity: bool = False


class Promote(Body, frozen=True, kw_only=True):
    override_capacity: bool = False


class RosterEntry(Booking, kw_only=True):
    """A booking with what the desk has to know of the person."""

    member_name: str
    member_email: str | None
    checked_in_at: Instant | None
    credits: int
    suspended: bool
    membership_type: str | None
    membership_status: MembershipStatus | None
    first_visit: bool


class StaffBooking(Booking, kw_only=True):
    """A booking with its names and, once it is cancelled, what that cost."""

    member_name: str
    class_title: str
    start_time: Instant
    late_cancel: bool | None
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
        Meta(description="Only members whose first or last name, email or phone begins with this, by name."),
    ] = None
