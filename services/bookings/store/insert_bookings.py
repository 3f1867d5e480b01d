"""The second half of a booking, for a whole batch: one statement writes everything."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from services.bookings.store.bookings import BookingRow
from services.bookings.store.waitlist import WaitlistRow
from shared.db.database import Connection
from shared.events.outbox import OutboxRow
from shared.http.idempotency.stored_responses import StoredResponse, upsert_responses


class FullClass(Struct, frozen=True):
    """The event. Its envelope ends where the class begins; `counts` are those of the class then, as JSON."""

    event: OutboxRow
    class_id: str
    counts: str


class Outcome(Struct, frozen=True, kw_only=True):
    """What a request led to. A refusal has no booking; a waitlisted booking has an entry.

    `class_full`: the booking took the last seat.
    """

    studio_id: str
    client_id: str
    response: StoredResponse
    booking: BookingRow | None = None
    entry: WaitlistRow | None = None
    events: Sequence[OutboxRow] = ()
    class_full: FullClass | None = None


# One statement: round trips are most of a booking's cost, and on a busy class the time its lock is held.
INSERT = f"""
WITH booked AS (
    INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, booking_source,
                          class_spot_id, credits_charged, created_at, updated_at, held_until, held_by,
                          only_held)
    SELECT studio_id, id, class_id, member_id, location_id, status, source, spot_id, credits, at, at,
           held_until, held_by, held_until IS NOT NULL
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[],
                $8::uuid[], $9::int[], $10::timestamptz[], $11::timestamptz[], $12::text[])
         AS made (studio_id, id, class_id, member_id, location_id, status, source, spot_id, credits, at,
                  held_until, held_by)
    RETURNING studio_id, class_id, member_id, status, credits_charged
), seated AS (
    UPDATE classes c SET version = c.version + n.all_of_them, booked_count = c.booked_count + n.seats,
        held_count = c.held_count + n.holds,
        waitlist_count = c.waitlist_count + n.all_of_them - n.seats - n.holds
    FROM (SELECT studio_id, class_id, count(*) AS all_of_them,
                 count(*) FILTER (WHERE status = 'confirmed') AS seats,
                 count(*) FILTER (WHERE status = 'held') AS holds
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
    FROM unnest($13::uuid[], $14::uuid[], $15::uuid[], $16::uuid[], $17::uuid[], $18::uuid[], $19::int[],
                $20::timestamptz[])
         AS entry (studio_id, id, class_id, member_id, booking_id, location_id, position, at)
), outboxed AS (
    INSERT INTO outbox (partition, event_id, studio_id, type, envelope, traceparent)
    SELECT partition, event_id, studio_id, type,
           CASE WHEN full_class IS NULL THEN envelope ELSE envelope || (
               SELECT convert_to(
                   concat(c.json_head, full_counts, c.json_tail, '}}}}'), 'UTF8')
               FROM classes c WHERE c.studio_id = event.studio_id AND c.id = full_class) END,
           traceparent
    FROM unnest($21::smallint[], $22::uuid[], $23::uuid[], $24::text[], $25::bytea[], $26::text[],
                $27::uuid[], $28::text[])
         WITH ORDINALITY AS event (partition, event_id, studio_id, type, envelope, traceparent,
                                   full_class, full_counts, place)
    ORDER BY place
)
{upsert_responses(29)}
"""  # noqa: S608


async def insert(conn: Connection, outcomes: Sequence[Outcome]) -> None:
    """In the given order; their events get the same order."""
    made = [o for o in outcomes if o.booking]
    queued = [o for o in outcomes if o.entry]
    events: list[tuple[OutboxRow, str | None, str | None]] = []
    for o in outcomes:
        events += [(event, None, None) for event in o.events]
        if o.class_full:
            events.append((o.class_full.event, o.class_full.class_id, o.class_full.counts))
    await conn.execute(
        INSERT,
        *_columns(made, "studio_id"),
        *_columns([o.booking for o in made], *BOOKED),
        *_columns(queued, "studio_id"),
        *_columns([o.entry for o in queued], *QUEUED),
        *_columns([o.booking for o in queued], "created_at"),
        *_columns([event for event, _, _ in events], *OutboxRow.__struct_fields__),
        [full_class for _, full_class, _ in events],
        [full_counts for _, _, full_counts in events],
        *_columns(outcomes, "studio_id", "client_id"),
        *_columns([o.response for o in outcomes], *StoredResponse.__struct_fields__),
    )


BOOKED = (
    "id", "class_id", "member_id", "location_id", "status", "booking_source", "class_spot_id",
    "credits_charged", "created_at", "held_until", "held_by",
)  # fmt: skip
QUEUED = ("id", "class_id", "member_id", "booking_id", "location_id", "position")


def _columns(rows: Sequence[Any], *names: str) -> list[list[Any]]:
    return [[getattr(row, name) for row in rows] for name in names]
