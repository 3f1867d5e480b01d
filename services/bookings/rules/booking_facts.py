"""The inputs of the booking rules, as the store reads them under the class's lock."""

from datetime import datetime

from msgspec import Struct

from services.bookings.wire.bookings import BookingStatus
from services.bookings.wire.classes import ClassStatus, SpotMode
from services.bookings.wire.members import MembershipStatus


class ClassFacts(Struct, frozen=True, kw_only=True):
    """`held_count` has the holds that have not run out. `holds_due` have, and are to be expired."""

    id: str
    location_id: str | None
    start_time: datetime
    status: ClassStatus
    visible: bool
    capacity: int
    booked_count: int
    waitlist_count: int
    allow_waitlist: bool
    waitlist_capacity: int | None
    credit_cost: int
    spot_selection_mode: SpotMode | None
    version: int
    held_count: int = 0
    next_hold_ends_at: datetime | None = None
    holds_due: int = 0

    @property
    def seats_left(self) -> int:
        return self.capacity - self.booked_count - self.held_count


class MembershipFacts(Struct, frozen=True, kw_only=True):
    """`resumes_at` ends a pause, `effective_at` is a cancellation's."""

    status: MembershipStatus
    starts_at: datetime | None
    ends_at: datetime | None
    auto_renew: bool
    resumes_at: datetime | None
    effective_at: datetime | None


class MemberFacts(Struct, frozen=True, kw_only=True):
    id: str
    suspended: bool
    credits: int
    memberships: list[MembershipFacts]


class SpotFacts(Struct, frozen=True, kw_only=True):
    """Spots come in the class's order, so the first free one is the one to assign."""

    id: str
    taken: bool


class LiveBooking(Struct, frozen=True, kw_only=True):
    id: str
    status: BookingStatus


class HoldFacts(Struct, frozen=True, kw_only=True):
    """In this class: when the member's holds of the last 24 hours began, how many the client has now."""

    of_member: list[datetime]
    of_client: int


class BookingFacts(Struct, frozen=True, kw_only=True):
    now: datetime
    class_: ClassFacts
    member: MemberFacts
    live: LiveBooking | None
    spots: list[SpotFacts]
    holds: HoldFacts | None = None
