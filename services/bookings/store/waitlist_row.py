"""A waitlist entry as it is stored, with the columns that partners do not see."""

import asyncpg
import msgspec
from msgspec import Struct

from services.bookings.wire.waitlist import WaitlistEntry, WaitlistStatus


class WaitlistRow(Struct, kw_only=True):
    id: str
    class_id: str
    member_id: str
    booking_id: str
    location_id: str | None
    position: int
    status: WaitlistStatus
    version: int = 1

    def to_wire(self) -> WaitlistEntry:
        return WaitlistEntry(
            id=self.id,
            class_id=self.class_id,
            member_id=self.member_id,
            position=self.position,
            status=self.status,
            converted_to_booking=self.status is WaitlistStatus.CONVERTED,
        )


WAITLIST_COLUMNS = "id, class_id, member_id, booking_id, location_id, position, status, version"


def waitlist_row(record: asyncpg.Record) -> WaitlistRow:
    return msgspec.convert(dict(record), WaitlistRow)
