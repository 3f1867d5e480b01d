"""The webhooks schema as it was before daily partitions, and the statements of that release."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from shared.db.database import service_url
from shared.db.migrate import migration_files
from shared.wire import new_id

LAST_WITHOUT_DAYS = "0007_types_are_many.sql"

OLD_EVENT = """
INSERT INTO events (studio_id, id, sequence, type, location_id, client_id, created_at, body, traceparent,
                    moved_to)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::uuid[], $6::text[],
                     $7::timestamptz[], $8::bytea[], $9::text[], $10::uuid[])
"""
OLD_DELIVERY = """
INSERT INTO deliveries
    (studio_id, id, endpoint_id, event_id, event_type, sequence, next_attempt_at, created_at)
SELECT studio_id, id, endpoint_id, event_id, event_type, sequence, created_at, created_at
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::timestamptz[])
     AS d (studio_id, id, endpoint_id, event_id, event_type, sequence, created_at)
"""
OLD_WAKE = """
UPDATE lanes l SET last_sequence = l.last_sequence + 1, wakes = l.wakes + 1, due_at = least(l.due_at, now())
WHERE l.endpoint_id = $1
"""
OLD_KNOWN = "SELECT id FROM events WHERE studio_id = ANY($1::uuid[]) AND id = ANY($2::uuid[])"


class OldRelease:
    """Logs events as it does, one transaction each, for one endpoint."""

    def __init__(self, conn: "asyncpg.Connection[Any]", studio_id: str, endpoint_id: str) -> None:
        self.conn = conn
        self.studio_id = studio_id
        self.endpoint_id = endpoint_id
        self.sequence = 0

    async def log(self, *, days_ago: float = 0.0) -> str:
        """The id of the delivery."""
        self.sequence += 1
        event_id, delivery_id = new_id(), new_id()
        async with self.conn.transaction():
            at = await self.conn.fetchval("SELECT now() - $1 * interval '1 day'", days_ago)
            body = b'{"studio_id":"%b","created_at":"2026-01-01T00:00:00Z","n":%d}' % (
                self.studio_id.encode(),
                self.sequence,
            )
            await self.conn.execute(
                "INSERT INTO event_counters VALUES ($1, $2)"
                " ON CONFLICT (studio_id) DO UPDATE SET last_sequence = $2",
                self.studio_id,
                self.sequence,
            )
            event = (
                self.studio_id,
                event_id,
                self.sequence,
                "booking.created",
                None,
                None,
                at,
                body,
                None,
                None,
            )
            assert await self.conn.fetch(OLD_KNOWN, [self.studio_id], [event_id]) == []
            await self.conn.execute(OLD_EVENT, *([value] for value in event))
            await self.conn.execute(OLD_WAKE, self.endpoint_id)
            delivery = (self.studio_id, delivery_id, self.endpoint_id, event_id, "booking.created")
            await self.conn.execute(OLD_DELIVERY, *([value] for value in (*delivery, self.sequence, at)))
        return delivery_id


@asynccontextmanager
async def old_database(database_url: str) -> AsyncIterator["asyncpg.Connection[Any]"]:
    """The webhooks schema as the previous release left it, used with the service's role."""
    admin: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    await admin.execute(
        "DROP SCHEMA webhooks CASCADE; CREATE SCHEMA webhooks;"
        "GRANT USAGE ON SCHEMA webhooks TO studio_webhooks;"
        "ALTER DEFAULT PRIVILEGES IN SCHEMA webhooks"
        " GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO studio_webhooks;"
        "ALTER DEFAULT PRIVILEGES IN SCHEMA webhooks GRANT USAGE ON SEQUENCES TO studio_webhooks;"
        "SET search_path = webhooks;"
        "CREATE TABLE schema_migrations (name text PRIMARY KEY, checksum text NOT NULL,"
        " applied_at timestamptz NOT NULL DEFAULT now() - interval '1 month')"
    )
    for name, path in migration_files("webhooks"):
        sql = path.read_text()
        await admin.execute(sql)
        checksum = hashlib.sha256(sql.encode()).hexdigest()
        await admin.execute("INSERT INTO schema_migrations VALUES ($1, $2)", name, checksum)
        if name == LAST_WITHOUT_DAYS:
            break
    await admin.close()
    conn: asyncpg.Connection[Any] = await asyncpg.connect(service_url(database_url, "webhooks"))
    await conn.set_type_codec("uuid", schema="pg_catalog", encoder=str, decoder=str, format="text")
    yield conn
    await conn.close()


async def new_endpoint(conn: "asyncpg.Connection[Any]", studio_id: str, url: str) -> str:
    endpoint_id = new_id()
    await conn.execute(
        "WITH made AS (INSERT INTO endpoints (studio_id, id, client_id, url, scopes)"
        " VALUES ($1, $2, 'c', $3, '{}'))"
        " INSERT INTO lanes (studio_id, endpoint_id) VALUES ($1, $2)",
        studio_id,
        endpoint_id,
        url,
    )
    return endpoint_id
