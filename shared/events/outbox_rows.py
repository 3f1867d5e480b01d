"""The states of an outbox row: waiting, in flight, parked; gone once the event log has acknowledged it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from msgspec import Struct

from shared.db.asynchronous_commit import ASYNCHRONOUS_COMMIT
from shared.db.database import Connection
from shared.events.bus.acknowledgements import Acknowledgement
from shared.events.leases import LEASE_SECONDS, RENEW_SECONDS

# Only the oldest rows are read. This bounds what is in flight and the cost of a claim, however long the event
# log was unavailable. Rows of an aggregate that is being published do not count.
WINDOW = 4096
# How many rows of one aggregate a claim takes. They are published one after the other.
PER_AGGREGATE = 16

# Studios take turns, so that one with many rows does not keep others waiting. If a crash undoes a claim or
# a removal, the event is published again, and the event log stores each event once. So neither waits for the
# disk.
CLAIM = f"""
UPDATE outbox SET sent_at = clock_timestamp(), sends = sends + 1
WHERE id = ANY (ARRAY(
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY studio_id ORDER BY id) AS turn FROM (
            SELECT id, studio_id, sent_at,
                   row_number() OVER (PARTITION BY aggregate, sent_at IS NULL ORDER BY id) AS place
            FROM oldest_outbox_rows($1, $2, $6, $3)) AS w
        WHERE sent_at IS NULL AND place <= $4 AND coalesce(studio_id <> ALL ($7::uuid[]), true)) AS claimable
    ORDER BY turn, id LIMIT $5)) AND {ASYNCHRONOUS_COMMIT}
  AND ($8::uuid IS NULL OR $9 = (
      SELECT count(*) FROM leases WHERE role = 'relay' AND replica = $8
        AND renewed_at BETWEEN clock_timestamp() - $10::interval AND clock_timestamp() + $10::interval))
RETURNING id, event_id, type, aggregate, envelope, traceparent, bucket, version
"""  # noqa: S608
# A lease that is about to expire does not count.
LEASE_LEFT = timedelta(seconds=LEASE_SECONDS - RENEW_SECONDS)


class Holder(Struct, frozen=True):
    """The replica that claims, and how many leases it believes to hold. If it does not, it claims nothing.

    A process that was stopped between its heartbeat and its claim would take rows after the next holder has
    begun to publish: later events of an aggregate would overtake them.
    """

    replica: str
    leases: int


async def claim(
    conn: Connection,
    buckets: Sequence[int],
    busy: Sequence[str],
    limit: int,
    floor: int,
    without_studios: Sequence[str] = (),
    holder: Holder | None = None,
) -> list[Any]:
    """Marks waiting rows as in flight and returns them in order, without the aggregates in `busy`.

    Rows below `floor` are not read.
    """
    replica, leases = (holder.replica, holder.leases) if holder else (None, 0)
    window = (WINDOW, PER_AGGREGATE, limit, floor)
    rows = await conn.fetch(CLAIM, buckets, busy, *window, without_studios, replica, leases, LEASE_LEFT)
    return sorted(rows, key=lambda row: row["id"])


UNCLAIM = "UPDATE outbox SET sent_at = NULL WHERE id = ANY ($1::bigint[])"


async def unclaim(conn: Connection, ids: Sequence[int]) -> None:
    """The bus did not confirm the rows: they are waiting again."""
    await conn.execute(UNCLAIM, ids)


RESET_TIMEOUT = 300.0
RESET = """
UPDATE outbox SET sent_at = NULL
WHERE bucket = ANY ($1::smallint[]) AND sent_at IS NOT NULL AND aggregate <> ALL ($2::text[])
"""


async def reset_in_flight(conn: Connection, buckets: Sequence[int], busy: Sequence[str] = ()) -> None:
    """The outcome of these rows is unknown: they are published again, before any later rows."""
    await conn.execute(RESET, buckets, busy, timeout=RESET_TIMEOUT)


# While the event log is unavailable, the queue already has a copy: each further one waits twice as long, up
# to an hour.
RETRY = """
UPDATE outbox SET sent_at = NULL
WHERE id = ANY (ARRAY(SELECT id FROM oldest_outbox_rows($1, '{}', $4, $3) WHERE sent_at IS NOT NULL))
  AND sent_at NOT BETWEEN clock_timestamp() - least(3600, $2 * 2 ^ least(sends - 1, 12)) * interval '1 second'
                      AND clock_timestamp() + interval '1 minute'
RETURNING id
"""


async def retry_unacknowledged(
    conn: Connection, buckets: Sequence[int], after_seconds: float, start: int
) -> list[int]:
    """Marks rows that stayed unacknowledged as waiting again, from `start` on. Returns their ids."""
    rows = await conn.fetch(RETRY, buckets, after_seconds, WINDOW * 4, start)
    return [row["id"] for row in rows]


# By explicit id: ids are not commit-ordered, so `id <= last` would take rows that were never published. The
# event's id must match too: after a restore an old acknowledgement may name a row that now belongs to another
# event. And the version, which a restore counts up: the restored log does not have what it had acknowledged.
REMOVE = f"""
DELETE FROM outbox USING unnest($1::bigint[], $2::text[], $3::integer[]) AS done (id, event_id, version)
WHERE outbox.id = done.id AND outbox.event_id::text = done.event_id AND outbox.version = done.version
  AND {ASYNCHRONOUS_COMMIT}
"""  # noqa: S608
PARK = """
UPDATE outbox SET parked_at = clock_timestamp()
FROM unnest($1::bigint[], $2::text[], $3::integer[]) AS done (id, event_id, version)
WHERE outbox.id = done.id AND outbox.event_id::text = done.event_id AND outbox.version = done.version
"""


class Reference(Struct, frozen=True):
    """Sent with the message and returned with its acknowledgement."""

    row_id: int
    version: int

    def text(self) -> str:
        return f"{self.row_id}.{self.version}"


def read_reference(text: str) -> Reference | None:
    row_id, _, version = text.partition(".")
    return Reference(int(row_id), int(version)) if row_id.isdecimal() and version.isdecimal() else None


async def settle(conn: Connection, acknowledgements: Sequence[Acknowledgement]) -> None:
    """Deletes the rows that are logged and marks those that were parked. Ignores invalid references."""
    for sql, parked in ((REMOVE, False), (PARK, True)):
        done = sorted(
            (reference.row_id, one.id, reference.version)
            for one in acknowledgements
            if one.parked is parked and (reference := read_reference(one.reference)) is not None
        )
        if done:
            await conn.execute(sql, *(list(column) for column in zip(*done, strict=True)))
