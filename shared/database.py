"""An asyncpg pool on the service's own schema and role."""

import asyncio
import base64
import hashlib
import hmac
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import asyncpg
import msgspec
import structlog
from asyncpg.pool import PoolConnectionProxy

from shared.errors import UpstreamTimeout
from shared.http_errors import DATABASE_AWAY
from shared.metrics import POOL_CONNECTIONS, POOL_WAIT

log = structlog.get_logger("database")

Connection: TypeAlias = "asyncpg.Connection[Any] | PoolConnectionProxy[Any]"


def role_of(service: str) -> str:
    return f"studio_{service}"


def role_password(admin_url: str, service: str) -> str | None:
    """The password of a service's role where one URL is given to every process: derived from the admin's own.

    In production each service gets a URL with its own role and password instead, and never the admin's.
    """
    password = urlsplit(admin_url).password
    if password is None:
        return None
    digest = hmac.digest(unquote(password).encode(), role_of(service).encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def service_url(url: str, service: str) -> str:
    """`url` with the service's own role in it; one that names the role already is used as it is."""
    parts = urlsplit(url)
    if parts.username == role_of(service):
        return url
    password = role_password(url, service)
    user = role_of(service) + (f":{quote(password, safe='')}" if password else "")
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}@{host}"))


class Database:
    def __init__(self, pool: "asyncpg.Pool[Any]", service: str = "") -> None:
        self.pool = pool
        self._wait = POOL_WAIT.labels(service)
        POOL_CONNECTIONS.labels(service, "open").set_function(pool.get_size)
        POOL_CONNECTIONS.labels(service, "idle").set_function(pool.get_idle_size)

    @classmethod
    async def connect(cls, url: str, service: str, *, size: int = 10) -> "Database":
        """Waits for the database instead of crashing: in compose and Kubernetes it often comes up later."""
        pool: asyncpg.Pool[Any] = asyncpg.create_pool(
            service_url(url, service),
            min_size=1,
            max_size=size,
            init=_set_codecs,
            command_timeout=30,
            server_settings={
                "search_path": service,
                "application_name": f"studio-{service}",
                "timezone": "UTC",
            },
        )
        delay = 0.1
        while True:
            try:
                await pool
                return cls(pool, service)
            except (asyncpg.InvalidPasswordError, asyncpg.InvalidCatalogNameError):
                raise
            except (*DATABASE_AWAY, OSError) as problem:
                log.warning("database_not_reachable_yet", service=service, error=type(problem).__name__)
                await asyncio.sleep(delay)
                delay = min(delay * 2, 5.0)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        started = time.perf_counter()
        async with self.pool.acquire(timeout=5) as conn:
            self._wait.observe(time.perf_counter() - started)
            yield conn

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """READ COMMITTED. A connection lost during COMMIT leaves the outcome unknown, and is answered so."""
        started = time.perf_counter()
        async with self.pool.acquire(timeout=5) as conn:
            self._wait.observe(time.perf_counter() - started)
            transaction = conn.transaction()
            await transaction.start()
            try:
                yield conn
            except BaseException:
                if not conn.is_closed():
                    await transaction.rollback()
                raise
            try:
                await transaction.commit()
            except DATABASE_AWAY as problem:
                raise UpstreamTimeout from problem

    async def is_ready(self) -> str | None:
        """None, or a sentence that says what is wrong."""
        try:
            async with asyncio.timeout(2), self.pool.acquire() as conn:
                await conn.fetchval("SELECT 1")
        except (*DATABASE_AWAY, OSError, asyncpg.PostgresError) as problem:
            return f"the database does not answer ({type(problem).__name__})"
        return None

    async def close(self) -> None:
        try:
            await asyncio.wait_for(self.pool.close(), 5)
        except TimeoutError:
            self.pool.terminate()


async def _set_codecs(conn: Connection) -> None:
    await conn.set_type_codec("uuid", schema="pg_catalog", encoder=str, decoder=str, format="text")
    await conn.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=_to_json, decoder=msgspec.json.decode, format="text"
    )


def _to_json(value: object) -> str:
    return msgspec.json.encode(value).decode()
