"""Numbered SQL files, forward only, then the functions, under one lock; a schema and a role per service."""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import asyncpg
import structlog
from msgspec import Struct

from shared.db.database import role_of, role_password, service_url

log = structlog.get_logger("migrate")

ROOT = Path(__file__).resolve().parent.parent.parent
# Services that publish events have the outbox, and its functions, in their own schema.
PRODUCERS = ("catalog", "bookings", "forms", "webhooks")
# Services with writes that partners may repeat.
WRITERS = ("gateway", "bookings", "forms", "webhooks")
SHARED = (("events", PRODUCERS), ("http/idempotency", WRITERS))


class FunctionFile(Struct, frozen=True):
    """The current definition of SQL functions, in one file, where it can be read; migrations are for tables.

    It is applied again whenever it has changed. Every applied version is recorded by its checksum, so that a
    replica can tell whether its own version has been applied, even if another one is current.
    """

    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def function_files(service: str) -> list[FunctionFile]:
    return [FunctionFile(name, path.read_text()) for name, path in _sql_files(service, "functions")]


def migration_files(service: str) -> list[tuple[str, Path]]:
    return _sql_files(service, "migrations")


def _sql_files(service: str, folder: str) -> list[tuple[str, Path]]:
    shared = [
        path
        for place, services in SHARED
        if service in services
        for path in sorted((ROOT / "shared" / place / folder).glob("*.sql"))
    ]
    own = sorted((ROOT / "services" / service / folder).glob("*.sql"))
    return [(f"shared/{path.name}", path) for path in shared] + [(path.name, path) for path in own]


CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS schema_functions (
    name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (name, checksum))
"""
CURRENT_FUNCTIONS = (
    "SELECT DISTINCT ON (name) name, checksum FROM schema_functions ORDER BY name, applied_at DESC"
)
RECORD_FUNCTION = """
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
    current = {row["name"]: row["checksum"] for row in await conn.fetch(CURRENT_FUNCTIONS)}
    changed = [file for file in files if current.get(file.name) != file.checksum]
    async with conn.transaction():
        for file in changed:
            await _apply(conn, service, file)
            await conn.execute(RECORD_FUNCTION, file.name, file.checksum)
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


class MigrationProblem(Exception):
    """A migration or function cannot be applied; the message is one sentence for the operator."""


def role_settings(service: str) -> dict[str, str]:
    """The settings with which each session of the service's role starts.

    They belong to the role and not to the connection, because a pooler refuses most start-up parameters and
    shares its sessions.
    """
    return {
        "search_path": service,
        "timezone": "UTC",
        # For any server: read pages along an index, and do not compile short statements.
        "random_page_cost": "1.1",
        "jit": "off",
        # The server ends the session of a machine that has disappeared within 22 s, and the transaction of a
        # process that hangs, because others wait for its locks.
        "tcp_keepalives_idle": "10",
        "tcp_keepalives_interval": "3",
        "tcp_keepalives_count": "4",
        "tcp_user_timeout": "20000",
        "idle_in_transaction_session_timeout": "15000",
    }


ROLE_SETTINGS = """
SELECT setconfig FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
WHERE r.rolname = $1 AND s.setdatabase = 0
"""


async def ensure_role(conn: "asyncpg.Connection[Any]", service: str, role: str, password: str | None) -> None:
    if not await conn.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
        await conn.execute(f"CREATE ROLE {role} LOGIN NOINHERIT")
    if password is not None:
        literal = await conn.fetchval("SELECT quote_literal($1)", password)
        await conn.execute(f"ALTER ROLE {role} PASSWORD {literal}")
    settings = dict(text.split("=", 1) for text in await conn.fetchval(ROLE_SETTINGS, role) or [])
    current = {name.lower(): value for name, value in settings.items()}
    for name, value in role_settings(service).items():
        if current.get(name) != value:
            await conn.execute(f"ALTER ROLE {role} SET {name} TO '{value}'")


LOCK = 0x5354_5544_494F  # "STUDIO"
RECORD = "INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)"


async def migrate(
    admin_url: str, services: Iterable[str], *, passwords: Mapping[str, str] | None = None
) -> dict[str, list[str]]:
    """Brings the schemas of `services` up to date. Returns what was applied to each."""
    conn = await asyncpg.connect(admin_url)
    try:
        # As the services' roles have it. Eight days later is another time of day where clocks change.
        await conn.execute("SET timezone TO 'UTC'")
        await conn.execute("SELECT pg_advisory_lock($1)", LOCK)
        applied: dict[str, list[str]] = {}
        for service in services:
            password = (passwords or {}).get(service) or role_password(admin_url, service)
            await _ensure_schema(conn, service, password)
            applied[service] = await _apply_files(conn, service)
            applied[service] += await apply_functions(conn, service, function_files(service))
        return applied
    finally:
        await conn.close()


async def until_applied(url: str, service: str, waiting_for: MutableMapping[str, str]) -> None:
    """Waits until this version's migrations and functions are applied: pods may start before the job.

    The service's role may not exist before that, so a refused login is retried. `waiting_for` says
    what is still missing.
    """
    delay = 0.2
    while missing := await _missing(url, service):
        log.warning("waiting_for_the_schema", service=service, missing=len(missing))
        waiting_for["schema"] = f"{len(missing)} functions or migrations are not applied"
        await asyncio.sleep(delay)
        delay = min(delay * 2, 5.0)
    waiting_for["schema"] = "ok"


async def _missing(url: str, service: str) -> list[str]:
    needed = [name for name, _ in migration_files(service)]
    functions = function_files(service)
    everything = needed + [file.name for file in functions]
    try:
        conn = await asyncpg.connect(service_url(url, service), timeout=5)
    except (asyncpg.PostgresError, OSError, TimeoutError) as problem:
        log.warning("database_not_usable_yet", service=service, error=type(problem).__name__)
        return everything
    try:
        rows = await conn.fetch(f"SELECT name FROM {service}.schema_migrations")  # noqa: S608
        applied = {row["name"] for row in rows}
        missing = [name for name in needed if name not in applied]
        if await conn.fetchval("SELECT current_setting('search_path')") != service:
            missing.append("settings of the role")
        return missing + await missing_functions(conn, service, functions)
    except (asyncpg.UndefinedTableError, asyncpg.InsufficientPrivilegeError):
        return everything
    finally:
        await conn.close()


async def _ensure_schema(conn: "asyncpg.Connection[Any]", service: str, password: str | None) -> None:
    role = role_of(service)
    await ensure_role(conn, service, role, password)
    await conn.execute(
        f"""
        CREATE SCHEMA IF NOT EXISTS {service};
        REVOKE ALL ON SCHEMA {service} FROM PUBLIC;
        GRANT USAGE ON SCHEMA {service} TO {role};
        ALTER DEFAULT PRIVILEGES IN SCHEMA {service} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role};
        ALTER DEFAULT PRIVILEGES IN SCHEMA {service} GRANT USAGE ON SEQUENCES TO {role};
        CREATE TABLE IF NOT EXISTS {service}.schema_migrations (
            name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
        -- A service that was taken over must not be able to hide or forge a migration.
        REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON {service}.schema_migrations FROM {role};
        """
    )


async def _apply_files(conn: "asyncpg.Connection[Any]", service: str) -> list[str]:
    rows = await conn.fetch(f"SELECT name, checksum FROM {service}.schema_migrations")  # noqa: S608
    known = {row["name"]: row["checksum"] for row in rows}
    applied = []
    await conn.execute(f"SET search_path TO {service}")
    for name, path in migration_files(service):
        sql = path.read_text()
        checksum = hashlib.sha256(sql.encode()).hexdigest()
        if name in known:
            if known[name] != checksum:
                raise MigrationProblem(
                    f"{service}/{name} was changed after it was applied; add a new file instead."
                )
            continue
        # One transaction: if it is killed, neither the file nor its record has happened.
        async with conn.transaction():
            await conn.execute(sql)
            await conn.execute(RECORD, name, checksum)
        log.info("migration_applied", service=service, name=name)
        applied.append(name)
    return applied
