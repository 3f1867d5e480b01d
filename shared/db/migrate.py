"""Numbered SQL files, forward only, then the functions, under one lock; a schema and a role per service."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from functools import partial
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
    current = {
        text.partition("=")[0].lower(): text for text in await conn.fetchval(ROLE_SETTINGS, role) or []
    }
    for name, value in role_settings(service).items():
        if current.get(name, "").partition("=")[2] != value:
            await conn.execute(f"ALTER ROLE {role} SET {name} TO '{value}'")


async def has_settings(conn: "asyncpg.Connection[Any]", service: str) -> bool:
    """Whether this session started with the role's settings."""
    return bool(await conn.fetchval("SELECT current_setting('search_path') = $1", service))


LOCK = 0x5354_5544_494F  # "STUDIO"
LOCK_POLL_SECONDS = 0.1
LOCK_RETRY_SECONDS = 3.0
WITHOUT_TRANSACTION = "-- no transaction"
_STATEMENT = re.compile(r"(?:--[^\n]*|\$(\w*)\$.*?\$\1\$|[^;])+;?", re.DOTALL)
RECORD = "INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)"


def migration_files(service: str) -> list[tuple[str, Path]]:
    files: list[tuple[str, Path]] = []
    if service in PRODUCERS:
        files += [
            (f"shared/{path.name}", path) for path in _sql_files(ROOT / "shared" / "events" / "migrations")
        ]
    return files + [(path.name, path) for path in _sql_files(ROOT / "services" / service / "migrations")]


async def migrate(
    admin_url: str, services: Iterable[str], *, passwords: Mapping[str, str] | None = None
) -> dict[str, list[str]]:
    """Brings the schemas of `services` up to date. Returns what was applied to each."""
    conn = await asyncpg.connect(admin_url)
    try:
        # As the services' roles have it. Eight days later is another time of day where clocks change.
        await conn.execute("SET timezone TO 'UTC'")
        # Not a lock that waits: CREATE INDEX CONCURRENTLY waits for every running statement, this one too.
        while True:
            if await conn.fetchval("SELECT pg_try_advisory_lock($1)", LOCK):
                break
            await asyncio.sleep(LOCK_POLL_SECONDS)
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

    The service's role may not exist before that, so a refused login is retried. `waiting_for` is called with
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
        if not await has_settings(conn, service):
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
        await _apply_file(conn, sql, name, checksum)
        log.info("migration_applied", service=service, name=name)
        applied.append(name)
    return applied


async def _apply_file(conn: "asyncpg.Connection[Any]", sql: str, name: str, checksum: str) -> None:
    """The file and its record are one transaction: if it is killed, neither has happened.

    A file that cannot run in a transaction must be safe to run twice: it may be killed before its record is
    written.
    """
    if sql.startswith(WITHOUT_TRANSACTION):
        for statement in _statements(sql):
            await _until_not_locked(partial(conn.execute, statement), name)
        await conn.execute(RECORD, name, checksum)
        return

    async def apply() -> None:
        async with conn.transaction():
            await conn.execute(sql)
            await conn.execute(RECORD, name, checksum)

    await _until_not_locked(apply, name)


async def _until_not_locked(run: Callable[[], Awaitable[object]], name: str) -> None:
    """A file that sets `lock_timeout` is tried until it gets its locks, as while a `pg_dump` runs."""
    while True:
        try:
            await run()
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            log.warning("migration_waits_for_a_lock", name=name)
            await asyncio.sleep(LOCK_RETRY_SECONDS)
        else:
            return


def _statements(sql: str) -> list[str]:
    """Sent together they would be one transaction. A body between dollar signs is part of its statement."""
    return [match.group().strip() for match in _STATEMENT.finditer(sql) if match.group().strip()]


def _sql_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.sql")) if folder.is_dir() else []
