"""The database behind a pooler, and one database per service: both need only URLs."""

import json
from pathlib import Path

import asyncpg
import pytest

from shared.db.database import Database, service_url
from shared.db.migrate import role_settings
from shared.settings import SERVICES
from shared.wire import new_id
from tests.harness.databases import connected
from tests.harness.pgbouncer import running_pgbouncer
from tests.harness.receiver import receiving
from tests.harness.system import RunningSystem, System, embedded_system, new_studio_in


async def assert_an_event_reaches_a_partner(system: System) -> None:
    """Key, member, outbox, relay, event log, delivery: every service except forms takes part."""
    partner = system.partner((await system.issue("all"))["key"])
    async with receiving() as receiver:
        await partner.create("/webhook-endpoints", {"url": receiver.url})
        body = {"email": f"{new_id()}@example.com", "first_name": "Ada", "last_name": "Byron"}
        await partner.create("/members", body)
        await receiver.until(
            lambda got: any(json.loads(each.body)["type"].startswith("member") for each in got.received)
        )
    assert (await partner.get("/forms")).status == 200
    assert (await partner.get("/studio")).status == 200


async def test_the_whole_system_works_through_pgbouncer(database_url: str, tmp_path: Path) -> None:
    """PgBouncer refuses unknown start-up parameters. Sessions for LISTEN go to the server itself.

    By transaction where the version can: each role's many connections take turns on three sessions.
    """
    with (
        running_pgbouncer(database_url, pool_size=3) as pooled_url,
        embedded_system(tmp_path, pooled_url, STUDIO_DATABASE_DIRECT_URL=database_url) as running,
    ):
        async with new_studio_in(running) as system:
            await assert_an_event_reaches_a_partner(system)


async def test_sessions_that_must_not_be_shared_go_past_the_pooler(database_url: str) -> None:
    """Otherwise another client could get the session with the relay's LISTEN and advisory lock."""
    with running_pgbouncer(database_url) as pooled_url:
        db = await Database.connect(pooled_url, "bookings", size=2, direct_url=database_url)
        async with db.connection() as conn:
            assert await conn.fetchval("SELECT current_schema()") == "bookings"
    try:
        # The pooler is gone now.
        assert await db.session_pool.fetchval("SELECT current_schema()") == "bookings"
        with pytest.raises((OSError, asyncpg.PostgresError, asyncpg.InterfaceError)):
            async with db.connection() as conn:
                await conn.fetchval("SELECT 1")
    finally:
        await db.close()


async def test_every_session_of_a_role_begins_with_its_settings(database_url: str) -> None:
    """Whether a service, a pooler, KEDA or an operator with psql opened it."""
    for service in SERVICES:
        async with connected(service_url(database_url, service)) as conn:
            for name, value in role_settings(service).items():
                sql = "SELECT setting FROM pg_settings WHERE lower(name) = $1"
                assert await conn.fetchval(sql, name) == value, (service, name)


async def test_each_service_can_have_a_database_of_its_own(five_databases: RunningSystem) -> None:
    """No service reads another service's tables, so five URLs are enough."""
    async with new_studio_in(five_databases) as system:
        await assert_an_event_reaches_a_partner(system)
