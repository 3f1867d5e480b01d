"""Migrations: once each, never changed afterwards; a role that reaches its own schema only."""

from pathlib import Path
from typing import Any

import asyncpg
import pytest

from shared.db.database import service_url
from shared.db.migrate import MigrationProblem, migrate, migration_files
from shared.settings import SERVICES


async def test_migrating_again_applies_nothing(database_url: str) -> None:
    """Forward only, each file once."""
    assert await migrate(database_url, SERVICES) == {service: [] for service in SERVICES}


async def test_a_changed_file_is_refused(database_url: str) -> None:
    """What was applied is history: a change of it would be silently missing elsewhere."""
    conn: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    await conn.execute("UPDATE catalog.schema_migrations SET checksum = 'other'")
    await conn.close()
    with pytest.raises(MigrationProblem, match="was changed after it was applied"):
        await migrate(database_url, ["catalog"])


@pytest.mark.parametrize("service", SERVICES)
async def test_a_services_role_reaches_its_own_schema_only(database_url: str, service: str) -> None:
    """Reads of any other service's table are refused by the database itself, and so is making tables."""
    conn: asyncpg.Connection[Any] = await asyncpg.connect(service_url(database_url, service))
    try:
        assert await conn.fetchval(f"SELECT count(*) FROM {service}.schema_migrations") >= 0  # noqa: S608
        for other in SERVICES:
            if other != service:
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await conn.fetchval(f"SELECT count(*) FROM {other}.schema_migrations")  # noqa: S608
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await conn.execute(f"CREATE TABLE {service}.mine (id integer)")
    finally:
        await conn.close()


def test_every_service_has_numbered_files() -> None:
    """0001, 0002, … with no number twice."""
    for service in SERVICES:
        own = [Path(name).name[:4] for name, _ in migration_files(service) if not name.startswith("shared/")]
        assert own == [f"{number:04}" for number in range(1, len(own) + 1)]
