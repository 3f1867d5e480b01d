"""A booking and a waitlist entry with what the wire does not show."""

from datetime import datetime
from typing import Any

import asyncpg
import msgspec
from msgspec import Struct

from services.bookings.rules.cancellation import Held
from services.bookings.wire.bookings import Booking, BookingStatus
from services.bookings.wire.waitlist import WaitlistEntry, WaitlistStatus


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

    def shown(self, position: int | None = None) -> Booking:
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

    def held(self, start_time: datetime) -> Held:
        return Held(
            status=self.status,
            start_time=start_time,
            credits_charged=self.credits_charged,
            promoted_at=self.promoted_at,
        )


BOOKING_COLUMNS = """
id, class_id, member_id, location_id, status, booking_source, class_spot_id, credits_charged, promoted_at,
created_at, updated_at, version
"""


class EntryRow(Struct, kw_only=True):
    id: str
    class_id: str
    member_id: str
    booking_id: str
    location_id: str | None
    position: int
    status: WaitlistStatus
    version: int = 1

    def shown(self) -> WaitlistEntry:
        return WaitlistEntry(
            id=self.id,
            class_id=self.class_id,
            member_id=self.member_id,
            position=self.position,
            status=self.status,
            converted_to_booking=self.status is WaitlistStatus.CONVERTED,
        )


ENTRY_COLUMNS = "id, class_id, member_id, booking_id, location_id, position, status, version"


def booking_row(record: asyncpg.Record) -> BookingRow:
    return msgspec.convert(_values(record), BookingRow)


def entry_row(record: asyncpg.Record) -> EntryRow:
    return msgspec.convert(_values(record), EntryRow)


def _values(record: asyncpg.Record) -> dict[str, Any]:
    return dict(record)
