"""Current SQL functions: services/<name>/functions/*.sql, applied again whenever a file has changed.

Migrations are for tables. A function's current definition is in one file, where it can be read. Every applied
version is recorded by its checksum, so that a replica can tell whether its own version has been applied, even
if another one is current.
"""

import hashlib
from pathlib import Path
from typing import Any

import asyncpg
import structlog
from msgspec import Struct

from shared.db.database import role_of
from shared.db.migration_problem import MigrationProblem

log = structlog.get_logger("migrate")

ROOT = Path(__file__).resolve().parent.parent.parent
# Services that publish events have the outbox, and its functions, in their own schema.
PRODUCERS = ("catalog", "bookings", "forms", "webhooks")


class FunctionFile(Struct, frozen=True):
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def function_files(service: str, root: Path = ROOT) -> list[FunctionFile]:
    shared = root / "shared" / "events" / "functions"
    files = [(f"shared/{path.name}", path) for path in sorted(shared.glob("*.sql")) if service in PRODUCERS]
    own = root / "services" / service / "functions"
    files += [(path.name, path) for path in sorted(own.glob("*.sql"))]
    return [FunctionFile(name, path.read_text()) for name, path in files]


CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS schema_functions (
    name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (name, checksum))
"""
CURRENT = "SELECT DISTINCT ON (name) name, checksum FROM schema_functions ORDER BY name, applied_at DESC"
RECORD = """
INSERT INTO schema_functions (name, checksum) VALUES ($1, $2)
ON CONFLICT (name, checksum) DO UPDATE SET applied_at = excluded.applied_at
"""


async def apply_functions(
    conn: "asyncpg.Connection[Any]", service: str, files: list[FunctionFile]
) -> list[str]:
    """Applies the changed files and records them in one transaction; the caller holds the migration lock.

    Nothing is dropped: a function that a file no longer defines stays, for old code that still calls it.
    """
    await conn.execute(f"SET search_path TO {service}")
    await conn.execute(CREATE_TABLE)
    await conn.execute(f"REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON schema_functions FROM {role_of(service)}")
    current = {row["name"]: row["checksum"] for row in await conn.fetch(CURRENT)}
    changed = [file for file in files if current.get(file.name) != file.checksum]
    async with conn.transaction():
        for file in changed:
            await _apply(conn, service, file)
            await conn.execute(RECORD, file.name, file.checksum)
    for file in changed:
        log.info("functions_applied", service=service, name=file.name)
    return [f"functions/{file.name}" for file in changed]


async def _apply(conn: "asyncpg.Connection[Any]", service: str, file: FunctionFile) -> None:
    try:
        await conn.execute(file.sql)
    except asyncpg.InvalidFunctionDefinitionError as problem:
        raise MigrationProblem(
            f"{service}/functions/{file.name} changes what a function takes or returns ({problem}); "
            "give the new one another name, since old code still calls this one."
        ) from None


async def missing_functions(
    conn: "asyncpg.Connection[Any]", service: str, files: list[FunctionFile]
) -> list[str]:
    """Files whose version has never been applied."""
    rows = await conn.fetch(f"SELECT name, checksum FROM {service}.schema_functions")  # noqa: S608
    applied = {(row["name"], row["checksum"]) for row in rows}
    return [file.name for file in files if (file.name, file.checksum) not in applied]
