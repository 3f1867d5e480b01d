"""The data: studios with sequential ids, so that wrk and pgbench can compute them."""

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
from msgspec import Struct

from bench.operators import OperatorClient

# Coprime with the numbers of classes, so that (n % classes, n % MEMBERS) is a new pair for each n.
MEMBERS = 49_999
FEW_MEMBERS = 100
HOT_CLASSES = 200
FIRST_HOT = 2_000_000


class Studio(Struct, frozen=True):
    number: int
    name: str
    classes: int
    members: int = MEMBERS

    @property
    def id(self) -> str:
        return f"{self.number:08x}-0000-4000-8000-000000000000"

    def class_id(self, n: int) -> str:
        return f"{self.number:08x}-0000-4000-8000-{n:012x}"

    def member_id(self, n: int) -> str:
        return f"{self.number:08x}-0000-4000-9000-{n:012x}"


READING = Studio(1, "reading", 1_000, FEW_MEMBERS)
WRITING = Studio(2, "writing", 1_000)
LARGE = Studio(3, "large", 1_000_000)
TOLD = Studio(4, "told", 1_000, FEW_MEMBERS)
MANY_ENDPOINTS = Studio(5, "many-endpoints", 1_000, FEW_MEMBERS)
RECEIVING = Studio(6, "receiving", 1_000, FEW_MEMBERS)
HOLDING = Studio(7, "holding", 1_000)
MOVING = Studio(8, "moving", 1_000)

FILL_CLASSES = """
INSERT INTO bookings.classes (studio_id, id, title, description, class_type_id, location_id, room_id,
    instructor_id, start_time, end_time, capacity, allow_waitlist, status, visible)
SELECT $1, ($2 || '-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Vinyasa Flow ' || n % 40,
    'An hour of breath and movement for every level; bring water and a towel, mats are in the room.',
    ($2 || '-0000-4000-a000-' || lpad(to_hex(n % 40), 12, '0'))::uuid,
    ($2 || '-0000-4000-a001-' || lpad(to_hex(n % 3), 12, '0'))::uuid,
    ($2 || '-0000-4000-a002-' || lpad(to_hex(n % 9), 12, '0'))::uuid,
    ($2 || '-0000-4000-a003-' || lpad(to_hex(n % 25), 12, '0'))::uuid,
    date_trunc('hour', now()) + interval '30 days' + n * interval '1 minute',
    date_trunc('hour', now()) + interval '30 days' + (n + 60) * interval '1 minute',
    100000, true, 'scheduled', true
FROM generate_series($3::int, $4::int) AS n
"""
FILL_MEMBERS = """
INSERT INTO bookings.members (studio_id, id, name, first_name, last_name, email, created_at)
SELECT $1, ($2 || '-0000-4000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Member ' || n, 'Member', n::text,
    'member' || n || '@example.com', now() - n * interval '1 second'
FROM generate_series(1, $3::int) AS n
"""
# A booking for each member, which the row moves from class to class.
FILL_BOOKINGS = """
INSERT INTO bookings.bookings
    (studio_id, id, class_id, member_id, location_id, status, created_at, updated_at)
SELECT c.studio_id, ($2 || '-0000-4000-b000-' || lpad(to_hex(n), 12, '0'))::uuid, c.id,
    ($2 || '-0000-4000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, c.location_id, 'confirmed', now(), now()
FROM generate_series(1, $3::int) AS n
JOIN bookings.classes c ON c.studio_id = $1
    AND c.id = ($2 || '-0000-4000-8000-' || lpad(to_hex(1 + n % $4::int), 12, '0'))::uuid
"""
COUNT_BOOKINGS = """
UPDATE bookings.classes c SET booked_count = (
    SELECT count(*) FROM bookings.bookings b WHERE b.studio_id = c.studio_id AND b.class_id = c.id)
WHERE c.studio_id = $1
"""


def furnish(client: OperatorClient, database_url: str, studios: Sequence[Studio]) -> dict[str, str]:
    """Creates studios and keys by the operators' API and bulk rows by SQL; returns each studio's key."""
    keys = {studio.name: _key_of_new_studio(client, studio) for studio in studios}
    asyncio.run(_fill(database_url, studios))
    return keys


def _key_of_new_studio(client: OperatorClient, studio: Studio) -> str:
    body = {"id": studio.id, "name": studio.name, "slug": studio.name, "timezone": "Europe/Paris"}
    client.post("/studios", body)
    key = client.post("/keys", {"studio": studio.id, "name": "bench", "scopes": ["all"]})
    # High enough that the rate limit does not affect the measurement.
    client.patch(f"/clients/{key['client_id']}", {"rate": 1_000_000, "burst": 10_000_000})
    return str(key["key"])


async def _fill(database_url: str, studios: Sequence[Studio]) -> None:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    try:
        for studio in studios:
            head = f"{studio.number:08x}"
            await conn.execute(FILL_CLASSES, studio.id, head, 1, studio.classes, timeout=300)
            await conn.execute(FILL_CLASSES, studio.id, head, FIRST_HOT, FIRST_HOT + HOT_CLASSES - 1)
            await conn.execute(FILL_MEMBERS, studio.id, head, studio.members, timeout=300)
        await conn.execute("VACUUM ANALYZE bookings.classes, bookings.members", timeout=300)
    finally:
        await conn.close()


def execute(database_url: str, sql: str, *args: Any) -> None:
    asyncio.run(_execute(database_url, sql, *args))


def value_of(database_url: str, sql: str, *args: Any) -> Any:
    return asyncio.run(_execute(database_url, sql, *args, response=True))


async def _execute(database_url: str, sql: str, *args: Any, response: bool = False) -> Any:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    try:
        if response:
            return await conn.fetchval(sql, *args, timeout=300)
        return await conn.execute(sql, *args, timeout=300)
    finally:
        await conn.close()
