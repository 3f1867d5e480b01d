"""Deliveries: created with the event, listed for partners, retried by hand."""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import asyncpg
import msgspec

from services.webhooks.rules.visibility import kind_of
from services.webhooks.store import event_log
from services.webhooks.store.attempts import Claimed, Due, Loaded, Target
from services.webhooks.store.event_log import StoredEvent
from services.webhooks.store.lanes import LEASE_SECONDS, Lease
from services.webhooks.wire.endpoints import (
    DeliveriesQuery,
    Delivery,
    DeliveryWithHeaders,
    EventDeliveriesQuery,
    StudioDeliveriesQuery,
)
from shared.db.database import Connection, columns
from shared.http.caller import Caller
from shared.http.pages import resolve_cursor, start_after
from shared.wire import delivery_id

# Id, places in the lists of events and endpoints (from 1), and which one of its endpoint's it is (from 1).
NewDelivery = tuple[str, int, int, int]

# One statement wakes the lanes, takes their next sequences and inserts, because each round trip here is part
# of the time from a commit to its receipt. What many deliveries share is sent once, and long lists as texts:
# asyncpg takes up to 3 µs for each element of an array. Deliveries are a microsecond apart, so that the order
# by creation is the order by sequence. With a token it also claims the lanes that have nothing to do: what it
# inserts is all that they have to send. Their leases begin now: the transaction may have waited for a lock.
IDLE = """l.due_at = 'infinity' AND l.token IS NULL AND l.failures = 0 AND l.pauses = 0
AND l.failing_since IS NULL"""
TAKEN = f"""
taken AS (
    UPDATE lanes l SET last_sequence = l.last_sequence + n.count, wakes = l.wakes + 1,
           due_at = CASE WHEN l.paused_until > now() THEN l.due_at ELSE least(l.due_at, now()) END,
           token = CASE WHEN {IDLE} THEN $12 ELSE l.token END,
           leased_until = CASE WHEN {IDLE} AND $12 IS NOT NULL
                               THEN clock_timestamp() + {LEASE_SECONDS} * interval '1 second'
                               ELSE l.leased_until END
    FROM unnest(string_to_array($1, ' ')::uuid[], string_to_array($2, ' ')::bigint[]) WITH ORDINALITY
         AS n (endpoint_id, count, endpoint)
    WHERE l.endpoint_id = n.endpoint_id
    RETURNING n.endpoint, l.endpoint_id, l.studio_id, l.last_sequence - n.count AS before, l.token
)
"""  # noqa: S608
MADE = """
made AS (
INSERT INTO deliveries
    (studio_id, id, endpoint_id, event_id, event_type, sequence, next_attempt_at, created_at,
     event_created_at)
SELECT ($3::uuid[])[event], id, endpoint_id, ($4::uuid[])[event], ($5::text[])[event], before + number,
       $7::timestamptz + place * interval '1 microsecond', $7::timestamptz + place * interval '1 microsecond',
       ($6::timestamptz[])[event]
FROM unnest(string_to_array($8, ' ')::uuid[], string_to_array($9, ' ')::int[],
            string_to_array($10, ' ')::bigint[], string_to_array($11, ' ')::bigint[]) WITH ORDINALITY
     AS d (id, event, endpoint, number, place)
JOIN taken USING (endpoint)
)
"""
# What the lane has seen is of the statement's snapshot, like its target: a change that was committed between
# the snapshot and the update makes it load again.
CLAIMED = """
SELECT taken.endpoint_id, taken.studio_id, taken.endpoint, taken.before,
       seen.wakes + 1 AS wakes, seen.changes,
       e.status = 'enabled' AND e.deleted_at IS NULL AS enabled, e.url, e.fifo, e.rate_limit,
       ARRAY(SELECT s.sealed FROM secrets s WHERE s.studio_id = e.studio_id AND s.endpoint_id = e.id
             AND (s.expires_at IS NULL OR s.expires_at > now()) ORDER BY s.created_at DESC) AS sealed
FROM taken JOIN lanes seen ON seen.endpoint_id = taken.endpoint_id
     JOIN endpoints e ON e.studio_id = taken.studio_id AND e.id = taken.endpoint_id
WHERE taken.token = $12::uuid
"""
ALONE = f"WITH {TAKEN}, {MADE} {CLAIMED}"
LOGGED = re.sub(
    r"\$(\d+)",
    lambda place: f"${int(place[1]) + 12}",
    f"{event_log.ADVANCED}, logged AS ({event_log.INSERT})",
)
WITH_THEIR_EVENTS = f"WITH {LOGGED}, {TAKEN}, {MADE} {CLAIMED}"


# So many deliveries of a lane go to the dispatcher with it; it loads the rest, and the head of a FIFO lane.
PASSED_ON = 64


def _joined(values: Iterable[str | int]) -> str:
    return " ".join(map(str, values))


async def insert(
    conn: Connection,
    events: Sequence[StoredEvent],
    endpoints: Mapping[str, int],
    deliveries: Sequence[NewDelivery],
    at: datetime,
    *,
    to_log: Sequence[StoredEvent] = (),
    token: str | None = None,
) -> list[Claimed]:
    """`endpoints`: how many each one gets. Gap-free, because the caller holds the studios' counters.

    `to_log`: events that are stored in the same statement. Returns the lanes claimed with the token.
    """
    began = time.monotonic()
    rows = await conn.fetch(
        WITH_THEIR_EVENTS if to_log else ALONE,
        _joined(endpoints),
        _joined(endpoints.values()),
        *columns(events, "studio_id", "id"),
        [kind_of(event.type) for event in events],
        [event.created_at for event in events],
        at,
        *map(_joined, zip(*deliveries, strict=True)),
        token,
        *(event_log.parameters(to_log) if to_log else ()),
    )
    loaded = {row["endpoint"]: Loaded(msgspec.convert(dict(row), Target), []) for row in rows}
    before = {row["endpoint"]: row["before"] for row in rows}
    for id_, place, endpoint, number in deliveries if loaded else ():
        target = loaded[endpoint].target if endpoint in loaded else None
        if target and target.enabled and not target.fifo and len(loaded[endpoint].due) < PASSED_ON:
            event = events[place - 1]
            due = Due(
                id_,
                event.id,
                before[endpoint] + number,
                0,
                0,
                event.created_at,
                event.body,
                event.traceparent,
            )
            loaded[endpoint].due.append(due)
    return [
        Claimed(Lease(row["endpoint_id"], row["studio_id"], token), loaded[row["endpoint"]], began)
        for row in rows
        if token is not None
    ]


COLUMNS = """d.id, d.endpoint_id, d.event_id, d.event_type, d.sequence, d.status, d.attempt_count,
CASE WHEN d.status = 'pending' THEN d.next_attempt_at END AS next_attempt_at, d.created_at, d.attempts"""


def read_delivery(row: asyncpg.Record) -> Delivery:
    return msgspec.convert(dict(row), Delivery)


PLACE = "SELECT sequence FROM deliveries WHERE studio_id = $1 AND endpoint_id = $2 AND id = $3"
# `created_at` grows with `sequence` within an endpoint, so this is the order by (created_at, id).
# The studio is bound on the endpoint. Bound on the deliveries, a table without statistics was scanned by its
# primary key: all deliveries of the studio for one page.
OF_ENDPOINT = f"""
SELECT {COLUMNS} FROM endpoints e CROSS JOIN LATERAL (
    SELECT * FROM deliveries WHERE endpoint_id = e.id AND sequence > $3 AND ($4::text IS NULL OR status = $4)
    ORDER BY sequence LIMIT $5) AS d
WHERE e.studio_id = $1 AND e.id = $2 ORDER BY d.sequence
"""  # noqa: S608
DEAD_OF_ENDPOINT = OF_ENDPOINT.replace("($4::text IS NULL OR status = $4)", "status = 'dead' AND $4 = 'dead'")
LAST = 2**62


async def of_endpoint(
    conn: Connection, caller: Caller, endpoint_id: str, query: DeliveriesQuery
) -> list[Delivery]:
    """With one more than the page shows."""
    place = await resolve_cursor(conn, PLACE, query.cursor, caller.studio_id, endpoint_id)
    sql = DEAD_OF_ENDPOINT if query.status == "dead" else OF_ENDPOINT
    after = place["sequence"] if place else LAST if query.order == "desc" else 0
    if query.order == "desc":
        sql = sql.replace("sequence >", "sequence <").replace("ORDER BY sequence", "ORDER BY sequence DESC")
        sql = sql.replace("ORDER BY d.sequence", "ORDER BY d.sequence DESC")
    rows = await conn.fetch(sql, caller.studio_id, endpoint_id, after, query.status, query.limit + 1)
    return [read_delivery(row) for row in rows]


PLACE_IN_STUDIO = "SELECT created_at, id FROM deliveries WHERE studio_id = $1 AND id = $2"
# Endpoint by endpoint with the limit inside: the cost of the first page does not depend on the table's size.
# A later one passes over the deliveries before it.
OF_STUDIO = f"""
SELECT {COLUMNS} FROM endpoints e CROSS JOIN LATERAL (
    SELECT * FROM deliveries
    WHERE endpoint_id = e.id AND (status = $4 OR $4 IS NULL) AND (created_at, id) > ($2, $3)
    ORDER BY sequence LIMIT $6) AS d
WHERE e.studio_id = $1 AND e.deleted_at IS NULL AND (e.id = $5 OR $5 IS NULL)
ORDER BY d.created_at, d.id LIMIT $6
"""  # noqa: S608
DEAD_OF_STUDIO = OF_STUDIO.replace("(status = $4 OR $4 IS NULL)", "status = 'dead' AND $4::text = 'dead'")


async def of_studio(conn: Connection, caller: Caller, query: StudioDeliveriesQuery) -> list[Delivery]:
    """All deliveries of one studio, for operators. With one more than the page shows."""
    after = await start_after(conn, PLACE_IN_STUDIO, query.cursor, caller.studio_id, order=query.order)
    sql = DEAD_OF_STUDIO if query.status == "dead" else OF_STUDIO
    if query.order == "desc":
        sql = sql.replace("(created_at, id) >", "(created_at, id) <")
        sql = sql.replace("ORDER BY sequence", "ORDER BY sequence DESC")
        sql = sql.replace("ORDER BY d.created_at, d.id", "ORDER BY d.created_at DESC, d.id DESC")
    filters = (query.status, query.endpoint_id, query.limit + 1)
    rows = await conn.fetch(sql, caller.studio_id, *after, *filters)
    return [read_delivery(row) for row in rows]


OF_EVENT = f"""
SELECT {COLUMNS} FROM deliveries d
WHERE d.studio_id = $1 AND d.id = ANY ($2::uuid[]) AND (d.created_at, d.id) > ($3, $4)
ORDER BY d.created_at, d.id LIMIT $5
"""  # noqa: S608


PLACE_OF_ENDPOINTS = """
SELECT created_at, id FROM deliveries WHERE studio_id = $1 AND endpoint_id = ANY ($2::uuid[]) AND id = $3
"""


async def of_event(
    conn: Connection, caller: Caller, endpoint_ids: Sequence[str], query: EventDeliveriesQuery
) -> list[Delivery]:
    """Those of these endpoints. With one more than the page shows."""
    after = await start_after(conn, PLACE_OF_ENDPOINTS, query.cursor, caller.studio_id, list(endpoint_ids))
    ids = [delivery_id(query.event_id, endpoint_id) for endpoint_id in endpoint_ids]
    rows = await conn.fetch(OF_EVENT, caller.studio_id, ids, *after, query.limit + 1)
    return [read_delivery(row) for row in rows]


GET = f"""
SELECT {COLUMNS} FROM deliveries d JOIN endpoints e ON e.studio_id = d.studio_id AND e.id = d.endpoint_id
WHERE d.studio_id = $1 AND d.id = $2 AND (e.client_id = $3 OR $4) AND e.deleted_at IS NULL
"""  # noqa: S608


async def get(conn: Connection, caller: Caller, delivery_id: str) -> Delivery | None:
    """Another client's delivery is not found, like one that does not exist."""
    row = await _get(conn, caller, delivery_id)
    return read_delivery(row) if row else None


async def get_with_headers(conn: Connection, caller: Caller, delivery_id: str) -> DeliveryWithHeaders | None:
    row = await _get(conn, caller, delivery_id)
    return msgspec.convert(dict(row), DeliveryWithHeaders) if row else None


async def _get(conn: Connection, caller: Caller, delivery_id: str) -> asyncpg.Record | None:
    operator = caller.actor == "operator"
    return await conn.fetchrow(GET, caller.studio_id, delivery_id, caller.client_id, operator)


# `changes`, so that a FIFO lane does not send what it has loaded before this one.
RETRY = f"""
WITH woken AS (
    UPDATE lanes SET wakes = wakes + 1, changes = changes + 1, due_at = least(due_at, now()),
           paused_until = NULL
    WHERE endpoint_id = $3
)
UPDATE deliveries d SET status = 'pending', step = 0, next_attempt_at = now()
WHERE d.studio_id = $1 AND d.id = $2 RETURNING {COLUMNS}
"""  # noqa: S608


async def retry(conn: Connection, caller: Caller, delivery: Delivery) -> Delivery:
    """Due at once, with the full retry schedule again. Body, id and sequence stay the same."""
    row = await conn.fetchrow(RETRY, caller.studio_id, delivery.id, delivery.endpoint_id)
    assert row is not None
    return read_delivery(row)


# More are not counted: from there on the response is the same for an operator.
COUNTED = 10_000
# In the order of their indexes, which hold open and dead deliveries only. Without that order a planner whose
# statistics are old may read the table. The oldest of each lane with work is one step along an index.
COUNTS = """
SELECT least($1, (SELECT count(*) FROM (
           SELECT 1 FROM deliveries WHERE status = 'pending' AND step = 0
           ORDER BY endpoint_id, sequence LIMIT $1) AS first_ones) + (
       SELECT count(*) FROM (
           SELECT 1 FROM deliveries WHERE status = 'pending' AND step > 0
           ORDER BY endpoint_id, next_attempt_at LIMIT $1) AS retries)) AS pending,
       (SELECT count(*) FROM (
           SELECT 1 FROM deliveries WHERE status = 'dead'
           ORDER BY endpoint_id, sequence LIMIT $1) AS dead_ones) AS dead,
       (SELECT coalesce(extract(epoch FROM now() - min(oldest.created_at)), 0)::float8
        FROM lanes l CROSS JOIN LATERAL (
            SELECT created_at FROM deliveries d
            WHERE d.endpoint_id = l.endpoint_id AND d.status = 'pending' AND d.step = 0
            ORDER BY d.sequence LIMIT 1) AS oldest
        WHERE l.due_at < 'infinity') AS oldest,
       (SELECT count(*) FROM recoveries WHERE status = 'running') AS recoveries
"""


async def counts(conn: Connection) -> dict[str, Any]:
    """For operators. What it costs does not depend on how many deliveries there are."""
    row = await conn.fetchrow(COUNTS, COUNTED)
    assert row is not None
    return dict(row)
