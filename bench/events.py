"""Creates thousands of events and their endpoints, and waits until all are delivered.

Events are copies of one that a booking wrote, so any version of the outbox table works. The last event of
each batch is a real booking, which wakes the relay.
"""

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import asyncpg

from bench.copy_rows import copy_rows, tables_with
from bench.partner import post
from bench.problem import BenchProblem
from bench.studios import Studio
from bench.system import System

TIMEOUT = 180.0
# Each look counts rows, at the expense of what is measured.
POLL_SECONDS = 0.1
TEMPLATE = "CREATE TABLE IF NOT EXISTS bookings.bench_template AS TABLE bookings.outbox WITH NO DATA"
CAPTURE = """
CREATE OR REPLACE FUNCTION bookings.bench_capture() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO bookings.bench_template SELECT NEW.*;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER bench_capture AFTER INSERT ON bookings.outbox
    FOR EACH ROW EXECUTE FUNCTION bookings.bench_capture();
"""
CAPTURED = """
SELECT count(*) FROM bookings.bench_template t
WHERE convert_from(t.envelope, 'UTF8')::jsonb ->> 'studio_id' = $1
"""
# Events of one class stay in order, so the copies are spread over 500 classes.
COPIES = """
(SELECT t.*, gen_random_uuid() AS new_id, n FROM bookings.bench_template t, generate_series(1, $2::int) AS n
 WHERE convert_from(t.envelope, 'UTF8')::jsonb ->> 'studio_id' = ANY($1::text[])) AS t
"""
CHANGED = {
    "event_id": "t.new_id",
    "aggregate": "t.aggregate || '-' || t.n % 500",
    "envelope": """convert_to(
        replace(convert_from(t.envelope, 'UTF8'), t.event_id::text, t.new_id::text), 'UTF8')""",
    "created_at": "clock_timestamp()",
}
DELIVERED = "SELECT count(*) FROM webhooks.deliveries WHERE studio_id = $1 AND status = 'succeeded'"
# Counting the deliveries at each look took up to a third of the database's time. These come from indexes.
LAST_SEQUENCE = "SELECT last_sequence FROM webhooks.event_counters WHERE studio_id = $1"
SENDING = """
SELECT EXISTS (SELECT FROM webhooks.deliveries WHERE status = 'pending' AND step = 0
               ORDER BY endpoint_id, sequence LIMIT 1)
"""
LOOK_SECONDS = 0.03
_numbers: defaultdict[tuple[str, str], Iterator[int]] = defaultdict(itertools.count)


def book(system: System, studio: Studio, key: str) -> dict[str, Any]:
    """Makes a booking that does not exist yet."""
    number = next(_numbers[system.database_url, studio.id])
    class_number, member_number = 1 + number % studio.classes, studio.members - number // studio.classes
    body = {"class_id": studio.class_id(class_number), "member_id": studio.member_id(member_number)}
    name = f"bench-single-{time.time_ns()}"
    return post(f"{system.partner_url}/bookings", key, body, **{"Idempotency-Key": name})


def capture_events(system: System, keys: Mapping[Studio, str]) -> None:
    """Saves the outbox row of one booking per studio as the template for its events."""
    asyncio.run(_capture(system, keys))


async def _capture(system: System, keys: Mapping[Studio, str]) -> None:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(system.database_url)
    try:
        await conn.execute(TEMPLATE)
        missing = [studio for studio in keys if not await conn.fetchval(CAPTURED, studio.id)]
        if missing:
            await conn.execute(CAPTURE)
            for studio in missing:
                await asyncio.to_thread(book, system, studio, keys[studio])
            await conn.execute("DROP TRIGGER bench_capture ON bookings.outbox")
    finally:
        await conn.close()


async def add_copies(conn: "asyncpg.Connection[Any]", studios: list[str], each: int) -> None:
    await copy_rows(conn, "bookings.outbox", COPIES, CHANGED, studios, each)


def deliver(system: System, studio: Studio, key: str, *, events: int, endpoints: int) -> float:
    """Deliveries a second, from the booking that wakes the relay until the last one is logged."""
    return asyncio.run(_deliver(system, studio, key, events, endpoints))


async def _deliver(system: System, studio: Studio, key: str, events: int, endpoints: int) -> float:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(system.database_url)
    try:
        if events > 1:
            await _capture(system, {studio: key})
        delivered = await settled(conn, DELIVERED, studio.id) + events * endpoints
        logged = int(await conn.fetchval(LAST_SEQUENCE, studio.id) or 0) + events
        if events > 1:
            await add_copies(conn, [studio.id], events - 1)
        began = time.perf_counter()
        await asyncio.to_thread(book, system, studio, key)
        while not await _all_delivered(conn, studio, logged, delivered):
            if time.perf_counter() - began > TIMEOUT:
                raise BenchProblem(f"{events * endpoints} deliveries were not made in {TIMEOUT:.0f} s")
            await asyncio.sleep(LOOK_SECONDS)
        return events * endpoints / (time.perf_counter() - began)
    finally:
        await conn.close()


async def _all_delivered(
    conn: "asyncpg.Connection[Any]", studio: Studio, logged: int, delivered: int
) -> bool:
    if (await conn.fetchval(LAST_SEQUENCE, studio.id) or 0) < logged or await conn.fetchval(SENDING):
        return False
    return int(await conn.fetchval(DELIVERED, studio.id)) >= delivered


async def settled(conn: "asyncpg.Connection[Any]", count: str, *args: Any) -> int:
    """The count, once the outbox is empty and the count is stable."""
    deadline = time.monotonic() + TIMEOUT
    last = -1
    while time.monotonic() < deadline:
        found = int(await conn.fetchval(count, *args))
        if found == last and not await conn.fetchval("SELECT count(*) FROM bookings.outbox"):
            return found
        last = found
        await asyncio.sleep(0.1)
    raise BenchProblem(f"events still wait after {TIMEOUT:.0f} s")


FIRST_ENDPOINT = "SELECT id FROM webhooks.endpoints WHERE studio_id = $1 ORDER BY created_at LIMIT 1"


def copy_endpoint(system: System, studio: Studio, count: int) -> None:
    """The API creates one endpoint; the rest are copies of it and of its dependent rows."""
    asyncio.run(_copy(system.database_url, studio, count))


async def _copy(url: str, studio: Studio, count: int) -> None:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(url)
    try:
        first = await conn.fetchval(FIRST_ENDPOINT, studio.id)
        await conn.execute("CREATE TEMP TABLE bench_new (new_id uuid)")
        await conn.execute(
            "INSERT INTO bench_new SELECT gen_random_uuid() FROM generate_series(2, $1::int)", count
        )
        source = "webhooks.endpoints t, bench_new b WHERE t.id = $1"
        await copy_rows(conn, "webhooks.endpoints", source, {"id": "b.new_id"}, first)
        for table in await tables_with(conn, "webhooks", "endpoint_id"):
            source = f"{table} t, bench_new b WHERE t.endpoint_id = $1"
            await copy_rows(
                conn, table, source, {"id": "gen_random_uuid()", "endpoint_id": "b.new_id"}, first
            )
            await conn.execute(f"ANALYZE {table}")
        await conn.execute("ANALYZE webhooks.endpoints")
    finally:
        await conn.close()
