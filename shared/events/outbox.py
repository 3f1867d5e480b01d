"""The event is written with the fact: a row in the writer's own transaction, sent by the relay later."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from msgspec import Struct, structs

from shared.db.database import ASYNCHRONOUS_COMMIT, Connection
from shared.events.envelope import render
from shared.events.event import Event

# A constant: with another number, a studio's events would be in two queues, in no order.
PARTITIONS = 16


def partition_of(studio_id: str) -> int:
    """All events of a studio stay in one partition, in order. `outbox_partition` in SQL computes the same."""
    return hashlib.sha256(studio_id.lower().encode()).digest()[0] % PARTITIONS


class OutboxRow(Struct, frozen=True):
    """The parameters of one row, for writers that insert it inside a statement of their own."""

    partition: int
    event_id: str
    studio_id: str
    type: str
    envelope: bytes
    traceparent: str | None


def row_of(event: Event) -> OutboxRow:
    return OutboxRow(
        partition_of(event.studio_id),
        event.id,
        event.studio_id,
        event.type,
        render(event),
        event.traceparent,
    )


ADD_ROWS = """
INSERT INTO outbox (partition, event_id, studio_id, type, envelope, traceparent)
SELECT partition, event_id, studio_id, type, envelope, traceparent
FROM unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $6::text[])
     WITH ORDINALITY AS event (partition, event_id, studio_id, type, envelope, traceparent, place)
ORDER BY place
"""


async def add_rows(conn: Connection, rows: Sequence[OutboxRow]) -> None:
    """In the given order. The caller's transaction decides whether they ever happened."""
    if rows:
        await conn.execute(ADD_ROWS, *map(list, zip(*map(structs.astuple, rows), strict=True)))


async def add_events(conn: Connection, events: Iterable[Event]) -> None:
    await add_rows(conn, [row_of(event) for event in events])


async def add_event(conn: Connection, event: Event) -> None:
    await add_events(conn, (event,))


class Stream(Struct):
    """Rows of a partition that are read in order: those of one studio with a backlog, or all others.

    There is nothing left to read up to `floor`, and nothing can appear there.
    """

    partition: int
    studio_id: str | None = None
    floor: int = 0


UNSENT = "SELECT * FROM unsent_outbox_rows($1, $2, $3, $4, $5, $6)"


async def read_unsent(
    conn: Connection, streams: Sequence[tuple[Stream, int]], sent: Sequence[int], backlogs: Sequence[str]
) -> list[list[Any]]:
    """For each stream, at most that many of its oldest rows. `backlogs` are the studios of all streams."""
    rows = await conn.fetch(
        UNSENT,
        [stream.partition for stream, _ in streams],
        [stream.floor for stream, _ in streams],
        [stream.studio_id for stream, _ in streams],
        [limit for _, limit in streams],
        sent,
        backlogs,
    )
    found: list[list[Any]] = [[] for _ in streams]
    for row in rows:
        found[row["stream"] - 1].append(row)
    return found


# By explicit id: ids are not commit-ordered, so `id <= last` would take rows that were never sent. The
# event's id must match, too: in a restored database the row may be another event's. If a crash undoes the
# commit, the row is sent again within a minute, and the event log stores each event once. So the commit does
# not wait for the disk.
DELETE = f"""
DELETE FROM outbox USING unnest($1::smallint[], $2::bigint[], $3::text[]) AS logged (partition, id, event_id)
WHERE outbox.partition = logged.partition AND outbox.id = logged.id
  AND outbox.event_id::text = logged.event_id AND {ASYNCHRONOUS_COMMIT}
"""  # noqa: S608


async def delete_logged(conn: Connection, rows: Iterable[tuple[int, int, str]]) -> None:
    """Rows whose events the event log has: partition, id and event id of each."""
    await conn.execute(DELETE, *map(list, zip(*sorted(rows), strict=True)))


POSITION = """
SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('outbox', 'id')::regclass), 0) AS last_id,
       pg_snapshot_xmin(now.snapshot)::text::bigint AS oldest_running,
       pg_snapshot_xmax(now.snapshot)::text::bigint AS next_transaction
FROM (SELECT pg_current_snapshot() AS snapshot) AS now
"""


class FloorBound:
    """Up to which id every row is visible or will never be: ids are not in the order of the commits.

    A transaction gets its own id within moments after a row's. So a row id that was the last one at an
    earlier `refresh` belongs to a transaction that has an id at this one, and once all of these have ended,
    nothing can appear up to that row id. The row of a process that was stopped between the two for longer
    than that is found by the relay's read from the first row, once a minute.
    """

    def __init__(self) -> None:
        self.bound = 0
        self._last_id = 0
        self._awaited = (0, 0)

    async def refresh(self, conn: Connection) -> int:
        """The bound. It holds for statements that start after this one. 0 if a restore has set ids back."""
        row = await conn.fetchrow(POSITION)
        assert row is not None
        if row["last_id"] < self._last_id:
            self.bound, self._awaited = 0, (0, 0)
        elif row["oldest_running"] >= self._awaited[1]:
            self.bound = self._awaited[0]
            self._awaited = (self._last_id, row["next_transaction"])
        self._last_id = row["last_id"]
        return self.bound


# Only the oldest rows of each partition are read, so that the cost does not grow with the backlog.
COUNTED = 512
OVERDUE_SECONDS = 60.0
BACKLOG = f"""
SELECT count(*) AS rows, count(*) FILTER (WHERE o.created_at < clock_timestamp() - $1::interval) AS overdue,
       coalesce(extract(epoch FROM clock_timestamp() - min(o.created_at)), 0)::float8 AS age,
       pg_stat_get_live_tuples('outbox'::regclass) AS estimate
FROM generate_series(0, {PARTITIONS - 1}) AS p (partition)
CROSS JOIN LATERAL (SELECT created_at FROM outbox
                    WHERE outbox.partition = p.partition ORDER BY id LIMIT {COUNTED}) AS o
"""  # noqa: S608


class Backlog(Struct, frozen=True, rename=lambda name: f"outbox_{name}"):
    """At most `COUNTED` of each partition are counted. With more of them, `waiting` is an estimate."""

    waiting: int = 0
    overdue: int = 0
    age_seconds: float = 0.0


async def backlog(conn: Connection) -> Backlog:
    row = await conn.fetchrow(BACKLOG, timedelta(seconds=OVERDUE_SECONDS))
    assert row is not None
    waiting = row["rows"] if row["rows"] < COUNTED else max(row["rows"], row["estimate"])
    return Backlog(waiting, row["overdue"], max(0.0, row["age"]))
