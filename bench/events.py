"""Events put into the outbox by the thousand, endpoints to send them to, and when they are all delivered."""

import asyncio
import time
from typing import Any

import asyncpg

from bench.problem import BenchProblem
from bench.studios import Studio
from bench.system import System
from shared.database import service_url

PATIENCE = 180.0
# As `POST /bookings` writes them, spread over the classes of the studio.
ADD = """
INSERT INTO bookings.outbox (event_id, type, aggregate, envelope)
SELECT e.id, 'booking.created', 'class:' || n % 500, convert_to(format(
    '{"id":"%s","object":"event","type":"booking.created","created_at":"%s","api_version":"2026-08-02",'
    '"studio_id":"%s","location_id":null,"resource":{"object":"booking","id":"%s","version":1},'
    '"request_id":null,"data":{"object":{"id":"%s","object":"booking","class_id":"%s","member_id":"%s",'
    '"status":"confirmed","booking_source":"partner_api","class_spot_id":null,"waitlist_position":null,'
    '"created_at":"2026-08-02T10:00:00.123456Z","updated_at":"2026-08-02T10:00:00.123456Z"}}}',
    e.id, to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), $1::text,
    gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid()), 'UTF8')
FROM generate_series(1, $2::int) AS n CROSS JOIN LATERAL (SELECT gen_random_uuid() AS id WHERE n > 0) AS e
"""
DELIVERED = "SELECT count(*) FROM webhooks.deliveries WHERE studio_id = $1 AND status = 'succeeded'"


def deliver(system: System, studio: Studio, *, events: int, deliveries: int) -> float:
    """Deliveries a second, from the commit until the last one is logged as delivered."""
    return asyncio.run(_deliver(system, studio, events, deliveries))


async def _deliver(system: System, studio: Studio, events: int, deliveries: int) -> float:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(system.database_url)
    try:
        before = await conn.fetchval(DELIVERED, studio.id)
        await conn.execute(ADD, studio.id, events)
        began = time.perf_counter()
        await conn.execute("SELECT pg_notify('outbox:bookings', '')")
        while await conn.fetchval(DELIVERED, studio.id) < before + deliveries:
            if time.perf_counter() - began > PATIENCE:
                raise BenchProblem(f"{deliveries} deliveries were not made in {PATIENCE:.0f} s")
            await asyncio.sleep(0.1)
        return deliveries / (time.perf_counter() - began)
    finally:
        await conn.close()


# One endpoint is made by the API; the rest are its copies, secret included.
COPY = """
WITH first AS (SELECT * FROM endpoints WHERE studio_id = $1 ORDER BY created_at LIMIT 1),
made AS (
    INSERT INTO endpoints (studio_id, id, client_id, url, event_types, scopes)
    SELECT studio_id, gen_random_uuid(), client_id, url, event_types, scopes
    FROM first, generate_series(2, $2::int) RETURNING studio_id, id
), lane AS (
    INSERT INTO lanes (endpoint_id, studio_id) SELECT id, studio_id FROM made
)
INSERT INTO secrets (studio_id, id, endpoint_id, sealed)
SELECT made.studio_id, gen_random_uuid(), made.id, s.sealed
FROM made, first JOIN secrets s ON s.studio_id = first.studio_id AND s.endpoint_id = first.id
"""


def copy_endpoint(system: System, studio: Studio, count: int) -> None:
    asyncio.run(_copy(service_url(system.database_url, "webhooks"), studio, count))


async def _copy(url: str, studio: Studio, count: int) -> None:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(url, server_settings={"search_path": "webhooks"})
    try:
        await conn.execute(COPY, studio.id, count)
        await conn.execute("ANALYZE endpoints, lanes, secrets")
    finally:
        await conn.close()
