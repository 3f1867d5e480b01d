"""A booking as it is stored, with the columns that partners do not see."""

from datetime import datetime

import asyncpg
import msgspec
from msgspec import Struct

from services.bookings.rules.cancellation import HeldBooking
from services.bookings.wire.bookings import Booking, BookingStatus


class BookingRow(Struct, kw_only=True):
    id: str
    class_id: str
    member_id: str
    location_id: str | None
    status: BookingStatus
    booking_source: str | None
    class_spot_id: str | None
    credits_charged: int
    promoted_at: datetime | None
    created_at: datetime
    updated_at: datetime
    version: int = 1

    def to_wire(self, position: int | None = None) -> Booking:
        return Booking(
            id=self.id,
            class_id=self.class_id,
            member_id=self.member_id,
            status=self.status,
            booking_source=self.booking_source,
            class_spot_id=self.class_spot_id,
            waitlist_position=position,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )

    def held(self, start_time: datetime) -> HeldBooking:
        return HeldBooking(
            status=self.status,
            start_time=start_time,
            credits_charged=self.credits_charged,
            promoted_at=self.promoted_at,
        )


BOOKING_COLUMNS = """
id, class_id, member_id, location_id, status, booking_source, class_spot_id, credits_charged, promoted_at,
created_at, updated_at, version
"""


def booking_row(record: asyncpg.Record) -> BookingRow:
    return msgspec.convert(dict(record), BookingRow)
