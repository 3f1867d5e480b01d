"""The booking write in two statements: one claims, locks and reads, one writes everything."""

from datetime import datetime

import msgspec
from msgspec import Struct

from services.bookings.rules.facts import BookingFacts, ClassFacts, LiveBooking, MemberFacts, SpotFacts
from services.bookings.store.idempotency import Claim, Kept, claim_of
from services.bookings.store.rows import BookingRow, EntryRow
from services.bookings.wire.bookings import BookingStatus
from shared.caller import Caller
from shared.database import Connection
from shared.outbox import OutboxRow


class FactsRead(Struct, frozen=True, kw_only=True):
    """As the database tells them: class or member may be unknown."""

    now: datetime
    class_: ClassFacts | None
    member: MemberFacts | None
    live: LiveBooking | None
    spots: list[SpotFacts]

    def complete(self) -> BookingFacts:
        assert self.class_ is not None and self.member is not None
        return BookingFacts(
            now=self.now, class_=self.class_, member=self.member, live=self.live, spots=self.spots
        )


_facts = msgspec.json.Decoder(FactsRead)

START = """
SELECT state, fingerprint, http_status, body, class_id, location_id, facts
FROM start_booking($1, $2, $3, $4, $5)
"""


async def start(
    conn: Connection, caller: Caller, key: str, class_id: str, member_id: str
) -> tuple[Claim, FactsRead | None]:
    """Facts come with a new key only; class and member are locked then."""
    row = await conn.fetchrow(START, caller.studio_id, caller.client_id, key, class_id, member_id)
    assert row is not None
    return claim_of(row), _facts.decode(row["facts"]) if row["facts"] is not None else None


async def look(conn: Connection, caller: Caller, class_id: str, member_id: str) -> FactsRead:
    """The same facts without a lock, for a preview."""
    text = await conn.fetchval("SELECT booking_facts($1, $2, $3)", caller.studio_id, class_id, member_id)
    return _facts.decode(text)


# One statement: round trips are what a booking costs, and on a hot class the time that its lock is held.
WRITE = """
WITH seat AS (
    UPDATE classes SET version = version + 1,
        booked_count = booked_count + ($8 = 'confirmed')::int,
        waitlist_count = waitlist_count + ($8 = 'waitlisted')::int
    WHERE studio_id = $1 AND id = $5
), paid AS (
    UPDATE members SET credits = credits - $11 WHERE studio_id = $1 AND id = $6 AND $11 > 0
), booked AS (
    INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, booking_source,
                          class_spot_id, credits_charged, created_at, updated_at)
    VALUES ($1, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
), queued AS (
    INSERT INTO waitlist (studio_id, id, class_id, member_id, booking_id, location_id, position, status,
                          created_at, updated_at)
    SELECT $1, $13, $5, $6, $4, $7, $14, 'waiting', $12, $12 WHERE $13::uuid IS NOT NULL
), told AS (
    INSERT INTO outbox (event_id, type, aggregate, envelope, traceparent)
    SELECT event_id, type, aggregate, envelope, traceparent
    FROM unnest($15::uuid[], $16::text[], $17::text[], $18::bytea[], $19::text[])
         WITH ORDINALITY AS event (event_id, type, aggregate, envelope, traceparent, place)
    ORDER BY place
)
INSERT INTO idempotency_keys
    (studio_id, client_id, key, fingerprint, http_status, body, resource_id, class_id, expires_at)
VALUES ($1, $2, $3, $20, $21, $22, $4, $5, clock_timestamp() + interval '24 hours')
ON CONFLICT (studio_id, client_id, key) DO UPDATE SET
    fingerprint = excluded.fingerprint, http_status = excluded.http_status, body = excluded.body,
    resource_id = excluded.resource_id, class_id = excluded.class_id, expires_at = excluded.expires_at
"""


async def write(
    conn: Connection,
    caller: Caller,
    booking: BookingRow,
    entry: EntryRow | None,
    events: list[OutboxRow],
    kept: Kept,
) -> None:
    assert booking.status in (BookingStatus.CONFIRMED, BookingStatus.WAITLISTED)
    await conn.execute(
        WRITE,
        caller.studio_id,
        caller.client_id,
        kept.key,
        booking.id,
        booking.class_id,
        booking.member_id,
        booking.location_id,
        booking.status,
        booking.booking_source,
        booking.class_spot_id,
        booking.credits_charged,
        booking.created_at,
        entry.id if entry else None,
        entry.position if entry else None,
        [event.event_id for event in events],
        [event.type for event in events],
        [event.aggregate for event in events],
        [event.envelope for event in events],
        [event.traceparent for event in events],
        kept.fingerprint,
        kept.http_status,
        kept.body,
    )
