"""Point-in-time recovery of a real Postgres, and the checks that run after a restore: they find lost events,
and take nothing for lost that the retention has dropped.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from services.webhooks.actions.log_events import add_to_log
from services.webhooks.actions.prune import keep_weeks
from services.webhooks.rules.retention import WEEK, oldest_kept
from shared.db.migrate import migrate
from shared.servers.postgres import EmbeddedPostgres, find_postgres
from shared.settings import SERVICES
from shared.wire import new_id, now
from tests.harness.compressed_days import envelopes_of_day, log_of_the_past
from tests.harness.databases import connected
from tests.harness.servers import home_for_servers
from tests.harness.system import ROOT

CHECKS = (ROOT / "deploy" / "restore-checks.sql").read_text()
STUDIO = "INSERT INTO gateway.studios (id, name) VALUES (gen_random_uuid(), $1)"
EVENT = """
INSERT INTO webhooks.events (studio_id, id, sequence, type, created_at, body)
SELECT s.id, gen_random_uuid(), $1, 'booking.created', now(), '' FROM gateway.studios s
"""
COUNTER = "INSERT INTO webhooks.event_counters SELECT id, 3 FROM gateway.studios"
NAMED_STUDIO = "INSERT INTO gateway.studios (id, name) VALUES ($1, 'Flow')"
needs_binaries = pytest.mark.skipif(
    find_postgres() is None, reason="needs Postgres's binaries: a container's data is out of reach"
)


@needs_binaries
async def test_a_database_comes_back_as_it_was_at_a_moment() -> None:
    """From a base backup and archived WAL, up to a point in time: what was destroyed later is back."""
    with home_for_servers() as home:
        async with archiving_postgres(home) as (server, conn):
            await migrate(server.url, SERVICES)
            await conn.execute(STUDIO, "before the backup")
            await base_backup(conn, server.data, home)
            await conn.execute(STUDIO, "after the backup")
            moment = await conn.fetchval("SELECT clock_timestamp()::text")
            await conn.execute("DELETE FROM gateway.studios")
            await everything_archived(conn)
        recover_to(moment, home)
        with EmbeddedPostgres.start(home / "second", durable=False) as restored:
            async with connected(restored.url) as again:
                rows = await again.fetch("SELECT name FROM gateway.studios ORDER BY 1")
                assert [row["name"] for row in rows] == ["after the backup", "before the backup"]
                await again.execute(CHECKS)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        ("DELETE FROM gateway.studios", "empty database"),
        ("DELETE FROM webhooks.events WHERE sequence = 2", "1 studios has gaps"),
        ("UPDATE webhooks.event_counters SET last_sequence = 2", "behind their event log"),
        ("DROP SCHEMA forms CASCADE", "schema of forms was not restored"),
    ],
)
async def test_the_checks_find_what_is_missing(database_url: str, harm: str, message: str) -> None:
    """Each one fails on damaged data; on an intact database they pass."""
    async with connected(database_url) as conn:
        await conn.execute(STUDIO, "Flow")
        await conn.execute(COUNTER)
        for sequence in (1, 2, 3):
            await conn.execute(EVENT, sequence)
        await conn.execute("UPDATE webhooks.event_counters SET last_sequence = 1000004")
        await conn.execute(EVENT, 1_000_004)  # after `studioctl sequences advance`
        await conn.execute(CHECKS)
        await conn.execute(harm)
        with pytest.raises(asyncpg.RaiseError, match=message):
            await conn.execute(CHECKS)


@asynccontextmanager
async def archiving_postgres(home: Path) -> AsyncIterator[tuple[EmbeddedPostgres, Any]]:
    """A server that copies its WAL into a folder, as the plugin does into the object store."""
    with EmbeddedPostgres.start(home / "first", durable=False) as server:
        (home / "archive").mkdir()
        give_to_owner(home / "archive", server.data)
        async with connected(server.url) as conn:
            await conn.execute("ALTER SYSTEM SET archive_mode = on")
            await conn.execute(f"ALTER SYSTEM SET archive_command = 'cp %p {home}/archive/%f'")
    with EmbeddedPostgres.start(home / "first", durable=False) as server:
        async with connected(server.url) as conn:
            yield server, conn


async def base_backup(conn: Any, data: Path, home: Path) -> None:
    """The data folder without its WAL, copied while the server runs, for the second server."""
    await conn.execute("SELECT pg_backup_start('drill', true)")
    copy = home / "second" / data.relative_to(home / "first")
    shutil.copytree(data, copy, ignore=shutil.ignore_patterns("postmaster.*"))
    label = await conn.fetchval("SELECT labelfile FROM pg_backup_stop()")
    (copy / "backup_label").write_text(label)
    for segment in (copy / "pg_wal").glob("0*"):
        segment.unlink()
    shutil.copy(home / "first" / "postgres.json", home / "second")
    for parent in copy.relative_to(home).parents[:-1]:
        (home / parent).chmod((home / "first").stat().st_mode)
    give_to_owner(copy, data)


async def everything_archived(conn: Any) -> None:
    """Up to a commit after that time, so that recovery knows when to stop."""
    await conn.execute("CREATE TABLE public.later (id integer)")
    last = await conn.fetchval("SELECT pg_walfile_name(pg_switch_wal())")
    async with asyncio.timeout(60):
        while (await conn.fetchval("SELECT last_archived_wal FROM pg_stat_archiver") or "") < last:
            await asyncio.sleep(0.05)


def recover_to(moment: str, home: Path) -> None:
    [data] = [path.parent for path in (home / "second").rglob("backup_label")]
    with (data / "postgresql.auto.conf").open("a") as settings:
        settings.write(f"restore_command = 'cp {home}/archive/%f %p'\n")
        settings.write(f"recovery_target_time = '{moment}'\nrecovery_target_action = 'promote'\n")
        settings.write("archive_mode = off\n")
    (data / "recovery.signal").touch()
    give_to_owner(data, data)


def give_to_owner(folder: Path, like: Path) -> None:
    """To the user that Postgres runs as."""
    owner = like.stat()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)


async def test_a_dropped_week_is_no_gap_and_a_missing_event_of_a_kept_one_is(database_url: str) -> None:
    """Even if the dropped week had an event between two of the next one, because it came late."""
    studio_id = new_id()
    async with connected(database_url) as admin, log_of_the_past(database_url, 1) as (service, today):
        first = oldest_kept(today) - WEEK
        for weeks_later in range(4):
            await keep_weeks(service, first + weeks_later * WEEK)
        await admin.execute(NAMED_STUDIO, studio_id)
        old, kept, later = (envelopes_of_day(first + weeks * WEEK, [studio_id], 3) for weeks in range(3))
        for envelopes in (old[:2], kept[:1], old[2:], kept[1:]):
            async with service.db.transaction() as conn:
                await add_to_log(conn, envelopes)
        await keep_weeks(service, now())
        rows = await admin.fetch("SELECT sequence FROM webhooks.events ORDER BY 1")
        assert [row["sequence"] for row in rows] == [3, 5, 6]
        await admin.execute(CHECKS)
        async with service.db.transaction() as conn:
            await add_to_log(conn, later)
        await admin.execute(CHECKS)
        await admin.execute("DELETE FROM webhooks.events WHERE sequence = 8")
        with pytest.raises(asyncpg.RaiseError, match="1 studios has gaps"):
            await admin.execute(CHECKS)
