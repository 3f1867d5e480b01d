"""From one table to daily partitions, with data, while the previous release goes on working."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
import pytest

from services.webhooks.actions.prune import prune_step
from shared.db.database import service_url
from shared.db.migrate import migrate, migration_files
from shared.http.caller import Caller
from shared.wire import new_id, now
from tests.harness.compressed_days import keep_days
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import open_studio_client

TABLES = ("events", "deliveries")
LAST_WITHOUT_DAYS = "0007_types_are_many.sql"

# Statements of the previous release.
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
OLD_DUE = """
SELECT d.id, e.body FROM deliveries d JOIN events e ON e.studio_id = d.studio_id AND e.id = d.event_id
WHERE d.endpoint_id = $1 AND d.status = 'pending' AND d.step = 0 ORDER BY d.sequence
"""
OLD_COMPLETE = """
UPDATE deliveries d SET status = 'dead', attempt_count = d.attempt_count + 1
WHERE d.studio_id = $1 AND d.id = $2 AND d.attempt_count = 0 RETURNING d.id
"""


PLACE = """
SELECT d.tableoid::regclass::text AS place, d.event_created_at = e.created_at AS known
FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.id = $1
"""


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


@pytest.mark.timeout(120)
async def test_old_deliveries_are_sent_and_the_old_release_goes_on(
    database_url: str, receiver: Receiver
) -> None:
    """The new one delivers what waited before the migration and what the old one logs afterwards."""
    studio_id = new_id()
    async with old_database(database_url) as conn:
        old = OldRelease(conn, studio_id, await new_endpoint(conn, studio_id, receiver.url))
        expired = await old.log(days_ago=31)
        dead = await old.log(days_ago=3)
        waiting = [await old.log(days_ago=1), await old.log()]
        for id_ in (expired, dead):
            assert await conn.fetchval(OLD_COMPLETE, studio_id, id_) == id_
        await migrate(database_url, ["webhooks"])
        assert [row["id"] for row in await conn.fetch(OLD_DUE, old.endpoint_id)] == waiting
        waiting.append(await old.log())
        assert [row["id"] for row in await conn.fetch(OLD_DUE, old.endpoint_id)] == waiting
        async with open_studio_client(database_url) as client:
            await conn.execute("UPDATE lanes SET due_at = now()")
            operator = Caller(studio_id=studio_id, actor="operator")
            await receiver.until(lambda got: len(got.received) == 3)
            waiting.append(await old.log())
            await receiver.until(lambda got: len(got.received) == 4)

            async def expired_is_gone() -> bool:
                listed = (await client.call("GET", "/staff/events", caller=operator)).json()
                return [event["n"] for event in listed["data"]] == [2, 3, 4, 5, 6]

            await eventually(expired_is_gone)
            assert (
                await client.call("POST", f"/staff/webhook-deliveries/{dead}/retry", caller=operator)
            ).status == 202
            await receiver.until(lambda got: len(got.received) == 5)


async def test_what_the_old_release_logs_on_a_later_day_moves_to_its_partition(database_url: str) -> None:
    """It does not know the column, so its deliveries land in the first partition until the next pruning."""
    studio_id = new_id()
    async with old_database(database_url) as conn:
        old = OldRelease(conn, studio_id, await new_endpoint(conn, studio_id, "https://partner.example/hook"))
        await old.log()
        await migrate(database_url, ["webhooks"])
        async with open_studio_client(database_url) as client:
            await keep_days(client.context, now())
            late = await old.log(days_ago=-4)

            async def moved() -> bool:
                # The service's own loop may do it at the same moment: then one of the two is refused.
                with suppress(asyncpg.SerializationError):
                    await prune_step(client.context)
                [row] = await client.sql(PLACE, late)
                return bool(row["known"] and row["place"] != "deliveries_before")

            await eventually(moved)


async def test_the_migration_rewrites_no_row(database_url: str) -> None:
    """The tables become the first partition as they are: the same files on disk."""
    async with old_database(database_url) as conn:
        studio_id = new_id()
        await OldRelease(
            conn, studio_id, await new_endpoint(conn, studio_id, "https://partner.example/hook")
        ).log()
        before = [await conn.fetchval("SELECT pg_relation_filenode($1)", name) for name in TABLES]
        await migrate(database_url, ["webhooks"])
        names = [f"{name}_before" for name in TABLES]
        assert [await conn.fetchval("SELECT pg_relation_filenode($1)", name) for name in names] == before
