"""Migrations run once each and never change afterwards; a role can only use its own schema."""

import secrets
from pathlib import Path

import asyncpg
import pytest

from shared.db.database import service_url
from shared.db.migrate import MigrationProblem, function_files, migrate, migration_files
from shared.settings import SERVICES
from tests.harness.databases import connected
from tests.harness.servers import Postgres


async def test_migrating_again_applies_nothing(database_url: str) -> None:
    """Forward only, each file once."""
    assert await migrate(database_url, SERVICES) == {service: [] for service in SERVICES}


async def test_a_changed_file_is_refused(database_url: str) -> None:
    """An edit of an applied file would be silently missing in other databases."""
    async with connected(database_url) as conn:
        await conn.execute("UPDATE catalog.schema_migrations SET checksum = 'other'")
    with pytest.raises(MigrationProblem, match="was changed after it was applied"):
        await migrate(database_url, ["catalog"])


KILLER = """
CREATE SCHEMA gateway;
CREATE TABLE gateway.schema_migrations (
    name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
CREATE FUNCTION public.kill_me() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;
CREATE TRIGGER killer BEFORE INSERT ON gateway.schema_migrations
    FOR EACH ROW EXECUTE FUNCTION public.kill_me();
"""


async def test_a_migration_killed_before_its_record_has_not_happened(postgres: Postgres) -> None:
    """Applied but not recorded, it would make every later run fail on objects that exist already."""
    name = f"killed_{secrets.token_hex(6)}"
    async with connected(postgres.url_of("postgres")) as admin:
        await admin.execute(f"CREATE DATABASE {name}")
        try:
            async with connected(postgres.url_of(name)) as conn:
                await conn.execute(KILLER)
                with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, ConnectionError)):
                    await migrate(postgres.url_of(name), ["gateway"])
                await conn.execute("DROP TRIGGER killer ON gateway.schema_migrations")
            files = [found for found, _ in migration_files("gateway")]
            files += [f"functions/{file.name}" for file in function_files("gateway")]
            assert await migrate(postgres.url_of(name), ["gateway"]) == {"gateway": files}
        finally:
            await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_a_services_role_reaches_its_own_schema_only(database_url: str) -> None:
    """It reads no other service's tables, makes no tables, and cannot edit the record of its migrations."""
    for service in SERVICES:
        async with connected(service_url(database_url, service)) as conn:
            assert await conn.fetchval(f"SELECT count(*) FROM {service}.schema_migrations") >= 0  # noqa: S608
            refused = [f"CREATE TABLE {service}.mine (id integer)"]
            for table in ("schema_migrations", "schema_functions"):
                refused.append(f"DELETE FROM {service}.{table}")  # noqa: S608
                refused.append(f"INSERT INTO {service}.{table} SELECT 'x', 'x'")
            for statement in refused:
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await conn.execute(statement)
            for other in set(SERVICES) - {service}:
                for reach in (f"TABLE {other}.schema_migrations", f"SET ROLE studio_{other}"):
                    with pytest.raises(asyncpg.InsufficientPrivilegeError, match=r"for schema|set role"):
                        await conn.execute(reach)


def test_every_service_has_numbered_files() -> None:
    """0001, 0002, … with no number twice."""
    for service in SERVICES:
        own = [Path(name).name[:4] for name, _ in migration_files(service) if not name.startswith("shared/")]
        assert own == [f"{number:04}" for number in range(1, len(own) + 1)]
