"""From one table to daily partitions, with data, while the previous release goes on working."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from services.webhooks.actions.prune import prune_step
from shared.db.migrate import migrate
from shared.http.caller import Caller
from shared.wire import new_id, now
from tests.harness.compressed_days import keep_days
from tests.harness.eventually import eventually
from tests.harness.old_release import OldRelease, new_endpoint, old_database
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import open_studio_client

TABLES = ("events", "deliveries")

# Statements of the previous release.
OLD_DUE = """
SELECT d.id, e.body FROM deliveries d JOIN events e ON e.studio_id = d.studio_id AND e.id = d.event_id
WHERE d.endpoint_id = $1 AND d.status = 'pending' AND d.step = 0 ORDER BY d.sequence
"""
OLD_COMPLETE = """
UPDATE deliveries d SET status = 'dead', attempt_count = d.attempt_count + 1
WHERE d.studio_id = $1 AND d.id = $2 AND d.attempt_count = 0 RETURNING d.id
"""
OLD_RETRY = """
WITH woken AS (
    UPDATE lanes SET wakes = wakes + 1, due_at = least(due_at, now()), paused_until = NULL
    WHERE endpoint_id = $3
)
UPDATE deliveries d SET status = 'pending', step = 0, next_attempt_at = now()
WHERE d.studio_id = $1 AND d.id = $2
"""
OLD_PRUNE = """
WITH old AS (
    SELECT studio_id, id FROM events
    WHERE studio_id = $1 AND created_at < now() - interval '30 days' LIMIT 1000
)
DELETE FROM events USING old WHERE events.studio_id = old.studio_id AND events.id = old.id
"""
WAITING = """
SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
WHERE d.datname = current_database() AND NOT l.granted
"""
# It waits for everybody who may still use the table without the index.
KILL_INDEX_BUILD = """
SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
WHERE a.datname = current_database() AND l.locktype = 'virtualxid' AND NOT l.granted
"""
PLACE = """
SELECT d.tableoid::regclass::text AS place, d.event_created_at = e.created_at AS known
FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.id = $1
"""


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
            await keep_days(client.context, now() + timedelta(days=4))
            late = await old.log(days_ago=-9)

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


async def test_what_the_old_release_opens_again_is_sent(database_url: str, receiver: Receiver) -> None:
    """It does not know that the lane looks at a few days only."""
    studio_id = new_id()
    async with old_database(database_url) as conn:
        old = OldRelease(conn, studio_id, await new_endpoint(conn, studio_id, receiver.url))
        sent = await old.log(days_ago=3)
        await migrate(database_url, ["webhooks"])
        async with open_studio_client(database_url) as client:
            await conn.execute("UPDATE lanes SET due_at = now()")
            await receiver.until(lambda got: len(got.received) == 1)

            async def looks_at_no_day() -> bool:
                [lane] = await client.sql("SELECT open_since > open_until AS empty FROM lanes")
                return bool(lane["empty"])

            await eventually(looks_at_no_day)
            await conn.execute(OLD_RETRY, studio_id, sent, old.endpoint_id)
            await receiver.until(lambda got: len(got.received) == 2)


async def test_deliveries_go_with_the_events_that_the_old_release_deletes(database_url: str) -> None:
    """There is no foreign key any more, and without its event a delivery could not be erased."""
    studio_id = new_id()
    async with old_database(database_url) as conn:
        old = OldRelease(conn, studio_id, await new_endpoint(conn, studio_id, "https://partner.example/hook"))
        await old.log(days_ago=31)
        kept = await old.log()
        await migrate(database_url, ["webhooks"])
        await conn.execute(OLD_PRUNE, studio_id)
        assert [row["id"] for row in await conn.fetch("SELECT id::text FROM deliveries")] == [kept]


@pytest.mark.timeout(120)
async def test_the_migration_holds_up_nobody_while_it_waits_for_a_reader(database_url: str) -> None:
    """As during pg_dump: it gives up its place in the queue for the lock, and tries again."""
    studio_id = new_id()
    async with old_database(database_url) as conn:
        old = OldRelease(conn, studio_id, await new_endpoint(conn, studio_id, "https://partner.example/hook"))
        reader: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
        reading = reader.transaction()
        await reading.start()
        await reader.execute("SELECT count(*) FROM webhooks.events, webhooks.deliveries")
        migrating = asyncio.create_task(migrate(database_url, ["webhooks"]))

        async def waits() -> bool:
            return bool(await conn.fetchval(WAITING))

        await eventually(waits)
        for _ in range(3):
            await old.log()
        assert not migrating.done()
        await reading.rollback()
        await reader.close()
        await migrating
        assert await conn.fetchval("SELECT count(*) FROM events_before") == 3


@pytest.mark.timeout(120)
async def test_a_migration_that_is_killed_in_between_can_be_repeated(database_url: str) -> None:
    """Killed while it builds an index, which is left behind unfinished. The old release goes on meanwhile."""
    studio_id = new_id()
    admin: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    async with old_database(database_url) as conn:
        old = OldRelease(conn, studio_id, await new_endpoint(conn, studio_id, "https://partner.example/hook"))
        await old.log()
        reader: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
        reading = reader.transaction(isolation="repeatable_read")
        await reading.start()
        await reader.execute("SELECT now()")
        migrating = asyncio.create_task(migrate(database_url, ["webhooks"]))

        async def killed() -> bool:
            return bool(await admin.fetch(KILL_INDEX_BUILD))

        await eventually(killed)
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            await migrating
        assert await admin.fetchval("SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 1
        await reading.rollback()
        await reader.close()
        await old.log()
        await migrate(database_url, ["webhooks"])
        assert await conn.fetchval("SELECT count(*) FROM events_before") == 2
        assert await admin.fetchval("SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 0
    await admin.close()
