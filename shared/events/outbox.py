"""The event is written with the fact: a row in the writer's own transaction, published by the relay later."""

from collections.abc import Iterable

from msgspec import Struct

from shared.db.database import Connection
from shared.events.envelope import render
from shared.events.kinds import Event


class OutboxRow(Struct, frozen=True):
    """The parameters of one row, for writers that insert it inside a statement of their own."""

    event_id: str
    type: str
    aggregate: str
    envelope: bytes
    traceparent: str | None


def row_of(event: Event) -> OutboxRow:
    aggregate = event.aggregate or f"{event.resource.object}:{event.resource.id}"
    return OutboxRow(event.id, event.type, aggregate, render(event), event.traceparent)


ADD_EVENTS = """
INSERT INTO outbox (event_id, type, aggregate, envelope, traceparent)
SELECT event_id, type, aggregate, envelope, traceparent
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::text[])
     WITH ORDINALITY AS event (event_id, type, aggregate, envelope, traceparent, place)
ORDER BY place
"""


async def add_events(conn: Connection, events: Iterable[Event]) -> None:
    """In the given order. The caller's transaction decides whether they ever happened."""
    rows = [row_of(event) for event in events]
    if not rows:
        return
    await conn.execute(
        ADD_EVENTS,
        [row.event_id for row in rows],
        [row.type for row in rows],
        [row.aggregate for row in rows],
        [row.envelope for row in rows],
        [row.traceparent for row in rows],
    )


async def add_event(conn: Connection, event: Event) -> None:
    await add_events(conn, (event,))


OLDEST = """
SELECT count(*) AS waiting,
       coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS age
FROM outbox
"""


class Backlog(Struct, frozen=True):
    waiting: int
    age_seconds: float


async def backlog(conn: Connection) -> Backlog:
    """How much waits and for how long: readiness, metrics and `studioctl status` show it."""
    row = await conn.fetchrow(OLDEST)
    assert row is not None
    return Backlog(row["waiting"], row["age"])
