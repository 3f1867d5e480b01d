"""The event is written with the fact: a row in the writer's own transaction, published by the relay later."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from shared.db.database import Connection
from shared.events.buckets import bucket_of
from shared.events.envelope import render
from shared.events.event import Event


class OutboxRow(Struct, frozen=True):
    """The parameters of one row, for writers that insert it inside a statement of their own."""

    event_id: str
    type: str
    aggregate: str
    envelope: bytes
    traceparent: str | None
    studio_id: str
    bucket: int


def row_of(event: Event) -> OutboxRow:
    aggregate = event.aggregate or f"{event.resource.object}:{event.resource.id}"
    return OutboxRow(
        event.id,
        event.type,
        aggregate,
        render(event),
        event.traceparent,
        event.studio_id,
        bucket_of(event.studio_id),
    )


ADD_ROWS = """
INSERT INTO outbox (event_id, type, aggregate, envelope, traceparent, studio_id, bucket)
SELECT event_id, type, aggregate, envelope, traceparent, studio_id, bucket
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::uuid[], $7::smallint[])
     WITH ORDINALITY AS event (event_id, type, aggregate, envelope, traceparent, studio_id, bucket, place)
ORDER BY place
"""


async def add_rows(conn: Connection, rows: Sequence[OutboxRow]) -> None:
    """In the given order. The caller's transaction decides whether they ever happened."""
    if not rows:
        return
    await conn.execute(
        ADD_ROWS,
        [row.event_id for row in rows],
        [row.type for row in rows],
        [row.aggregate for row in rows],
        [row.envelope for row in rows],
        [row.traceparent for row in rows],
        [row.studio_id for row in rows],
        [row.bucket for row in rows],
    )


async def add_events(conn: Connection, events: Iterable[Event]) -> None:
    await add_rows(conn, [row_of(event) for event in events])


async def add_event(conn: Connection, event: Event) -> None:
    await add_events(conn, (event,))
