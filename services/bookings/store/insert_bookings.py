"""The second half of a booking, for a whole batch: one statement writes everything."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from services.bookings.store.bookings import BookingRow
from services.bookings.store.idempotency import StoredAnswer, upsert_answers
from services.bookings.store.waitlist import WaitlistRow
from shared.db.database import Connection
from shared.events.outbox import OutboxRow


class Outcome(Struct, frozen=True, kw_only=True):
    """What a request led to. A refusal has no booking; a waitlisted booking has an entry.

    `class_full`: the booking took the last seat. The envelope ends where the class begins.
    """

    studio_id: str
    client_id: str
    answer: StoredAnswer
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
{upsert_answers(26)}
"""  # noqa: S608


async def insert(conn: Connection, outcomes: Sequence[Outcome]) -> None:
    """In the given order; their events get the same order."""
    made = [(o.studio_id, *_booking_values(o.booking)) for o in outcomes if o.booking]
    queued = [(o.studio_id, *_entry_values(o.entry, o.booking)) for o in outcomes if o.entry and o.booking]
    events = [row for o in outcomes for row in _event_values(o)]
    answers = [(o.studio_id, o.client_id, *msgspec.structs.astuple(o.answer)) for o in outcomes]
    await conn.execute(
        INSERT, *_columns(made, 10), *_columns(queued, 8), *_columns(events, 7), *_columns(answers, 8)
    )


def _event_values(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    for event in outcome.events:
        yield (*msgspec.structs.astuple(event), None)
    if outcome.class_full is not None and outcome.booking is not None:
        yield (*msgspec.structs.astuple(outcome.class_full), outcome.booking.class_id)


def _booking_values(booking: BookingRow) -> tuple[Any, ...]:
    return (
        booking.id,
        booking.class_id,
        booking.member_id,
        booking.location_id,
        booking.status,
        booking.booking_source,
        booking.class_spot_id,
        booking.credits_charged,
        booking.created_at,
    )


def _entry_values(entry: WaitlistRow, booking: BookingRow) -> tuple[Any, ...]:
    return (
        entry.id,
        entry.class_id,
        entry.member_id,
        entry.booking_id,
        entry.location_id,
        entry.position,
        booking.created_at,
    )


def _columns(rows: list[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]
