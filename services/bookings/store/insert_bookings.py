"""The second half of a booking, for a whole batch: one statement writes everything."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from services.bookings.store.bookings import BookingRow
from services.bookings.store.waitlist import WaitlistRow
from shared.db.database import Connection
from shared.events.outbox import OutboxRow
from shared.http.idempotency.stored_responses import StoredResponse, upsert_responses


class Outcome(Struct, frozen=True, kw_only=True):
    """What a request led to. A refusal has no booking; a waitlisted booking has an entry.

    `class_full`: the booking took the last seat. The envelope ends where the class begins.
    """

    studio_id: str
    client_id: str
    response: StoredResponse
    booking: BookingRow | None = None
    entry: WaitlistRow | None = None
    events: Sequence[OutboxRow] = ()
    class_full: OutboxRow | None = None


# One statement: round trips are most of a booking's cost, and on a busy class the time its lock is held.
INSERT = f"""
WITH booked AS (
    INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, booking_source,
                          class_spot_id, credits_charged, created_at, updated_at)
    SELECT studio_id, id, class_id, member_id, location_id, status, source, spot_id, credits, at, at
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[],
                $8::uuid[], $9::int[], $10::timestamptz[])
         AS made (studio_id, id, class_id, member_id, location_id, status, source, spot_id, credits, at)
    RETURNING studio_id, class_id, member_id, status, credits_charged
), seated AS (
    UPDATE classes c SET version = c.version + n.all_of_them, booked_count = c.booked_count + n.seats,
        waitlist_count = c.waitlist_count + n.all_of_them - n.seats
    FROM (SELECT studio_id, class_id, count(*) AS all_of_them,
                 count(*) FILTER (WHERE status = 'confirmed') AS seats
          FROM booked GROUP BY studio_id, class_id) n
    WHERE c.studio_id = n.studio_id AND c.id = n.class_id
), paid AS (
    UPDATE members m SET credits = m.credits - n.credits
    FROM (SELECT studio_id, member_id, sum(credits_charged) AS credits FROM booked
          WHERE credits_charged > 0 GROUP BY studio_id, member_id) n
    WHERE m.studio_id = n.studio_id AND m.id = n.member_id
), queued AS (
    INSERT INTO waitlist (studio_id, id, class_id, member_id, booking_id, location_id, position, status,
                          created_at, updated_at)
    SELECT studio_id, id, class_id, member_id, booking_id, location_id, position, 'waiting', at, at
    FROM unnest($11::uuid[], $12::uuid[], $13::uuid[], $14::uuid[], $15::uuid[], $16::uuid[], $17::int[],
                $18::timestamptz[])
         AS entry (studio_id, id, class_id, member_id, booking_id, location_id, position, at)
), outboxed AS (
    INSERT INTO outbox (partition, event_id, studio_id, type, envelope, traceparent)
    SELECT partition, event_id, studio_id, type,
           CASE WHEN full_class IS NULL THEN envelope ELSE envelope || (
               SELECT convert_to(
                   concat(c.json_head, c.capacity, ',"available_count":0', c.json_tail, '}}}}'), 'UTF8')
               FROM classes c WHERE c.studio_id = event.studio_id AND c.id = full_class) END,
           traceparent
    FROM unnest($19::smallint[], $20::uuid[], $21::uuid[], $22::text[], $23::bytea[], $24::text[],
                $25::uuid[])
         WITH ORDINALITY AS event (partition, event_id, studio_id, type, envelope, traceparent,
                                   full_class, place)
    ORDER BY place
)
{upsert_responses(26)}
"""  # noqa: S608


async def insert(conn: Connection, outcomes: Sequence[Outcome]) -> None:
    """In the given order; their events get the same order."""
    made = [o for o in outcomes if o.booking]
    queued = [o for o in outcomes if o.entry]
    events: list[tuple[OutboxRow, str | None]] = []
    for o in outcomes:
        events += [(event, None) for event in o.events]
        if o.class_full and o.booking:
            events.append((o.class_full, o.booking.class_id))
    await conn.execute(
        INSERT,
        *_columns(made, "studio_id"),
        *_columns([o.booking for o in made], *BOOKED),
        *_columns(queued, "studio_id"),
        *_columns([o.entry for o in queued], *QUEUED),
        *_columns([o.booking for o in queued], "created_at"),
        *_columns([event for event, _ in events], *OutboxRow.__struct_fields__),
        [full_class for _, full_class in events],
        *_columns(outcomes, "studio_id", "client_id"),
        *_columns([o.response for o in outcomes], *StoredResponse.__struct_fields__),
    )


BOOKED = (
    "id", "class_id", "member_id", "location_id", "status", "booking_source", "class_spot_id",
    "credits_charged", "created_at",
)  # fmt: skip
QUEUED = ("id", "class_id", "member_id", "booking_id", "location_id", "position")


def _columns(rows: Sequence[Any], *names: str) -> list[list[Any]]:
    return [[getattr(row, name) for row in rows] for name in names]
