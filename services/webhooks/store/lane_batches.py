"""What lanes load before they send and write when they end: for many lanes in one statement."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, structs

from services.webhooks.rules.circuit_breaker import Breaker
from services.webhooks.rules.days import EVER, Span
from services.webhooks.store.attempts import COLUMNS, Due, open_deliveries, read_due
from services.webhooks.store.day_tables import PARTITION, DayTables
from services.webhooks.store.lanes import Lease
from shared.db.database import Connection


class Target(Struct, frozen=True):
    """Where a lane's deliveries go. Read again before each batch, so that changes apply at once."""

    wakes: int
    changes: int
    enabled: bool
    url: str
    fifo: bool
    rate_limit: float | None
    open_span: Span
    sealed: tuple[bytes, ...]


class Wanted(Struct, frozen=True):
    """`held` deliveries are left out: they are loaded already. With a limit of 0 only the target is loaded.

    An endpoint with a rate limit gets at most one second's worth. `open_span`: as far as the caller knows.
    """

    lease: Lease
    held: Collection[str]
    limit: int
    open_span: Span = EVER


class Loaded(Struct, frozen=True):
    """`due` is empty for a FIFO endpoint, whose lane asks for its head only."""

    target: Target
    due: list[Due]


# One statement, so `wakes` and the deliveries are of one snapshot. If `wakes` were newer, a lane could be
# released without having seen the delivery that woke it.
# Two index scans for each lane, each with a limit: first attempts get half, however many retries are overdue.
LOAD = f"""
WITH mine AS MATERIALIZED (
    SELECT m.place, l.endpoint_id, l.wakes, l.changes, l.open_since, l.open_until, e.url, e.fifo,
           e.rate_limit, m.held::uuid[] AS held,
           e.status = 'enabled' AND e.deleted_at IS NULL AS enabled,
           CASE WHEN e.fifo OR e.status <> 'enabled' OR e.deleted_at IS NOT NULL THEN 0
                ELSE least(m.half, ceil(e.rate_limit / 2)::int) END AS half,
           ARRAY(SELECT s.sealed FROM secrets s
                 WHERE s.studio_id = e.studio_id AND s.endpoint_id = e.id
                   AND (s.expires_at IS NULL OR s.expires_at > now())
                 ORDER BY s.created_at DESC) AS sealed
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[]) WITH ORDINALITY
        AS m (endpoint_id, token, held, half, place)
    JOIN lanes l ON l.endpoint_id = m.endpoint_id AND l.token = m.token
    JOIN endpoints e ON e.studio_id = l.studio_id AND e.id = l.endpoint_id
)
SELECT mine.place, mine.wakes, mine.changes, mine.enabled, mine.url, mine.fifo, mine.rate_limit, mine.sealed,
       mine.open_since, mine.open_until, found.*
FROM mine LEFT JOIN LATERAL (
    (SELECT {COLUMNS} FROM {open_deliveries("$5", "$6")}
     WHERE d.endpoint_id = mine.endpoint_id AND d.step = 0
       AND d.id <> ALL (mine.held)
     ORDER BY d.sequence LIMIT mine.half)
    UNION ALL
    (SELECT {COLUMNS} FROM {open_deliveries("$5", "$6")}
     WHERE d.endpoint_id = mine.endpoint_id AND d.step > 0
       AND d.id <> ALL (mine.held) AND d.next_attempt_at <= now()
     ORDER BY d.next_attempt_at LIMIT mine.half)
) AS found ON true
"""  # noqa: S608


async def load(conn: Connection, days: DayTables, wanted: Sequence[Wanted]) -> list[Loaded | None]:
    """Each lane's target and what is due. None if the lease is lost or the endpoint is gone."""
    # Every new delivery moves the end of its lane's span, but hardly ever into another day.
    wanted = [structs.replace(one, open_span=one.open_span.whole_days()) for one in wanted]
    loaded: list[Loaded | None] = [None] * len(wanted)
    wider: dict[int, Wanted] = {}
    for partition, places in await _by_partition(conn, days, [one.open_span for one in wanted]):
        found = await _load(conn, days, partition, [wanted[place] for place in places])
        for place, lane in zip(places, found, strict=True):
            loaded[place] = lane
            span = wanted[place].open_span
            if lane is not None and not span.covers(lane.target.open_span):
                # Deliveries of another day were added or opened again since this was known.
                joined = span.joined(lane.target.open_span)
                wider[place] = structs.replace(wanted[place], open_span=joined)
    if wider:
        for place, lane in zip(wider, await load(conn, days, list(wider.values())), strict=True):
            loaded[place] = lane
    return loaded


async def _by_partition(
    conn: Connection, days: DayTables, spans: Sequence[Span]
) -> list[tuple[str, list[int]]]:
    """The places of the spans that are in the same partition. Those in several are taken together."""
    groups: dict[str, list[int]] = {}
    for place, span in enumerate(spans):
        groups.setdefault(await days.partition_of(conn, span), []).append(place)
    return list(groups.items())


async def _load(
    conn: Connection, days: DayTables, partition: str, wanted: Sequence[Wanted]
) -> list[Loaded | None]:
    args = (
        [one.lease.endpoint_id for one in wanted],
        [one.lease.token for one in wanted],
        ["{" + ",".join(one.held) + "}" for one in wanted],
        [(one.limit + 1) // 2 for one in wanted],
        min(one.open_span.since for one in wanted),
        max(one.open_span.until for one in wanted),
    )
    rows = await days.run_on(partition, LOAD, lambda sql: conn.fetch(sql, *args))
    loaded: list[Loaded | None] = [None] * len(wanted)
    for row in rows:
        place = row["place"] - 1
        lane = loaded[place] or Loaded(_target(row), [])
        if row["id"] is not None:
            lane.due.append(read_due(row))
        loaded[place] = lane
    return loaded


def _target(row: Any) -> Target:
    return Target(
        row["wakes"],
        row["changes"],
        row["enabled"],
        row["url"],
        row["fifo"],
        row["rate_limit"],
        Span(row["open_since"], row["open_until"]),
        tuple(row["sealed"]),
    )


# Not at once: a delivery that cannot be loaded must not keep its lane busy.
LOOK_AGAIN_SECONDS = 10


class Release(Struct, frozen=True):
    """`drained`: there was nothing left to attempt now."""

    lease: Lease
    seen: Target
    breaker: Breaker
    at: datetime
    drained: bool = False


# The lane is due again when its breaker allows it, or when its next retry is due. A drained lane without a
# retry has no open delivery, so its span starts again with the next one. If a first attempt was missed
# nevertheless, the lane keeps its span and is looked at again. `wakes` detects work that arrived since the
# last refill: then nothing is updated and the lane is refilled. A lane that is locked by another is skipped:
# the event log locks many lanes in an order of its own, so waiting could deadlock.
RELEASE = f"""
WITH mine AS MATERIALIZED (
    SELECT *, now() + pause_seconds * interval '1 second' AS paused_until
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::int[], $6::float8[],
                $7::timestamptz[], $8::bool[], $9::timestamptz[], $12::bool[]) WITH ORDINALITY
        AS mine (endpoint_id, token, wakes, failures, pauses, pause_seconds, failing_since, enabled,
                 last_failed_at, drained, place)
), free AS MATERIALIZED (
    SELECT l.endpoint_id FROM lanes l JOIN mine
    ON l.endpoint_id = mine.endpoint_id AND l.token = mine.token AND l.wakes = mine.wakes
    FOR UPDATE OF l SKIP LOCKED
)
UPDATE lanes l SET token = NULL, leased_until = NULL, failures = mine.failures, pauses = mine.pauses,
       paused_until = mine.paused_until, failing_since = mine.failing_since,
       last_failed_at = mine.last_failed_at,
       due_at = CASE WHEN NOT mine.enabled THEN 'infinity'
                     ELSE coalesce(mine.paused_until, retry.at, missed.at, 'infinity') END,
       open_since = CASE WHEN mine.drained AND mine.enabled AND mine.paused_until IS NULL
                          AND coalesce(retry.at, missed.at) IS NULL
                         THEN '9999-01-01 00:00+00' ELSE l.open_since END,
       open_until = CASE WHEN mine.drained AND mine.enabled AND mine.paused_until IS NULL
                          AND coalesce(retry.at, missed.at) IS NULL
                         THEN '0001-01-01 00:00+00' ELSE l.open_until END
FROM mine CROSS JOIN LATERAL (
    SELECT min(next_attempt_at) AS at FROM deliveries{PARTITION} d
    WHERE mine.enabled AND mine.paused_until IS NULL
      AND d.endpoint_id = mine.endpoint_id AND d.status = 'pending' AND d.step > 0
      AND d.event_created_at >= $10 AND d.event_created_at <= $11
) AS retry LEFT JOIN LATERAL (
    SELECT now() + interval '{LOOK_AGAIN_SECONDS} s' AS at FROM deliveries{PARTITION} d
    WHERE mine.enabled AND mine.paused_until IS NULL AND retry.at IS NULL
      AND d.endpoint_id = mine.endpoint_id AND d.status = 'pending' AND d.step = 0
      AND d.event_created_at >= $10 AND d.event_created_at <= $11
    LIMIT 1
) AS missed ON true
WHERE l.endpoint_id = ANY (ARRAY(SELECT endpoint_id FROM free))
  AND l.endpoint_id = mine.endpoint_id AND l.token = mine.token AND l.wakes = mine.wakes
RETURNING mine.place
"""  # noqa: S608


async def release(conn: Connection, days: DayTables, releases: Sequence[Release]) -> list[bool]:
    """False if there is new work, the lane is locked or the lease is lost. The next refill finds out."""
    done = [False] * len(releases)
    for partition, places in await _by_partition(conn, days, [one.seen.open_span for one in releases]):
        for place in await _release(conn, days, partition, [releases[place] for place in places]):
            done[places[place]] = True
    return done


async def _release(
    conn: Connection, days: DayTables, partition: str, releases: Sequence[Release]
) -> list[int]:
    """The places of those that were released."""
    args = (
        [one.lease.endpoint_id for one in releases],
        [one.lease.token for one in releases],
        [one.seen.wakes for one in releases],
        [one.breaker.failures for one in releases],
        [one.breaker.pauses for one in releases],
        [one.breaker.pause_left(one.at) for one in releases],
        [one.breaker.failing_since for one in releases],
        [one.seen.enabled for one in releases],
        [one.breaker.last_failed_at for one in releases],
        min(one.seen.open_span.since for one in releases),
        max(one.seen.open_span.until for one in releases),
        [one.drained for one in releases],
    )
    rows = await days.run_on(partition, RELEASE, lambda sql: conn.fetch(sql, *args))
    return [row["place"] - 1 for row in rows]
