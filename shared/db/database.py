"""An asyncpg pool with the service's own role, whose settings (shared/db/migrate.py) choose its schema."""

import asyncio
import base64
import hashlib
import hmac
import time
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from operator import attrgetter
from types import TracebackType
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import asyncpg
import msgspec
import structlog
from prometheus_client import Histogram

from shared.db.connection_pool import Connection as Connection
from shared.db.connection_pool import ConnectionPool, KeepaliveConnection, is_closed, was_interrupted
from shared.db.unavailable import is_unavailable, was_cut_off
from shared.errors import UpstreamTimeout
from shared.observability.metrics import POOL_CONNECTIONS, POOL_WAIT

log = structlog.get_logger("database")

# Connections beyond the pool's, for the relay, which keeps one for as long as it runs.
RESERVED = 2


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
    """`url` with the service's own role. A URL that already names the role is used unchanged."""
    parts = urlsplit(url)
    if parts.username == role_of(service):
        return url
    password = role_password(url, service)
    user = role_of(service) + (f":{quote(password, safe='')}" if password else "")
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}@{host}"))


IS_READ_ONLY = "SELECT current_setting('transaction_read_only')::bool"
# How long a failed write is reported if no other write has succeeded or failed since.
FAILURE_SHOWN_SECONDS = 60.0


class _Writes:
    """Whether the last transactions could be written."""

    __slots__ = ("_failed_at", "_failure", "read_only")

    def __init__(self) -> None:
        self.read_only = False
        self._failure = ""
        self._failed_at = 0.0

    def succeeded(self) -> None:
        self._failure = ""

    def failed(self, problem: BaseException) -> None:
        self._failure = type(problem).__name__
        self._failed_at = time.monotonic()

    def problem(self) -> str | None:
        if self.read_only:
            return "the database is read-only"
        if self._failure and time.monotonic() - self._failed_at < FAILURE_SHOWN_SECONDS:
            return f"the database takes no writes ({self._failure})"
        return None


class Database:
    def __init__(
        self, pool: "asyncpg.Pool[Any]", service: str = "", session_pool: "asyncpg.Pool[Any] | None" = None
    ) -> None:
        self.pool = pool
        # For LISTEN and advisory locks, which need a session of their own. Never through a pooler.
        self.session_pool = session_pool or pool
        self._connections = ConnectionPool(pool, max(1, pool.get_max_size() - RESERVED))
        self._wait = POOL_WAIT.labels(service)
        self._writes = _Writes()
        POOL_CONNECTIONS.labels(service, "open").set_function(pool.get_size)
        POOL_CONNECTIONS.labels(service, "idle").set_function(
            lambda: pool.get_idle_size() + self._connections.idle
        )

    @classmethod
    async def connect(
        cls, url: str, service: str, *, size: int = 10, direct_url: str | None = None
    ) -> "Database":
        """Waits for the database instead of crashing: in compose and Kubernetes it often comes up later.

        `url` may be a pooler's. Then `direct_url` is the server's own.
        """
        session_pool = None
        if direct_url is not None:
            session_pool = await _new_pool(direct_url, service, min_size=0, max_size=RESERVED)
        delay = 0.1
        while True:
            try:
                # A new one each time: asyncpg's own is closed for good when its first connection fails.
                pool = await _new_pool(url, service, min_size=1, max_size=size + RESERVED)
                return cls(pool, service, session_pool)
            except (asyncpg.InvalidPasswordError, asyncpg.InvalidCatalogNameError):
                raise
            except Exception as problem:
                if not is_unavailable(problem):
                    raise
                log.warning("database_not_reachable_yet", service=service, error=type(problem).__name__)
                await asyncio.sleep(delay)
                delay = min(delay * 2, 5.0)

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        if (outer := _outer.get()) is not None and outer[0] is self:
            return nullcontext(outer[1])
        return _Acquired(self._connections, self._wait)

    def transaction(self) -> AbstractAsyncContextManager[Connection]:
        """READ COMMITTED. A connection lost during COMMIT leaves the outcome unknown: `UpstreamTimeout`."""
        if (outer := _outer.get()) is not None and outer[0] is self:
            return _savepoint(outer[1])
        return _Transaction(self._connections, self._wait, self._writes)

    def single_write(self) -> AbstractAsyncContextManager[Connection]:
        """For one statement that commits by itself: `UpstreamTimeout` if its connection is lost meanwhile."""
        if (outer := _outer.get()) is not None and outer[0] is self:
            return nullcontext(outer[1])
        return _SingleWrite(self._connections, self._wait, self._writes)

    @asynccontextmanager
    async def joined(self, conn: Connection) -> AsyncIterator[None]:
        """Until it ends, this task's transactions are part of the one that `conn` is in."""
        token = _outer.set((self, conn))
        try:
            yield
        finally:
            _outer.reset(token)

    async def is_ready(self) -> str | None:
        """None, or a sentence that says what is wrong."""
        try:
            async with asyncio.timeout(2), self.connection() as conn:
                self._writes.read_only = await conn.fetchval(IS_READ_ONLY)
        except Exception as problem:
            if not is_unavailable(problem) and not isinstance(problem, asyncpg.PostgresError):
                raise
            return f"the database does not answer ({type(problem).__name__})"
        return None

    def write_problem(self) -> str | None:
        """A sentence if reads work but writes do not, for example on a full disk or a read-only server."""
        return self._writes.problem()

    async def close(self) -> None:
        try:
            async with asyncio.timeout(5):
                await self._connections.close()
                await self.session_pool.close()
                await self.pool.close()
        except TimeoutError:
            self.session_pool.terminate()
            self.pool.terminate()


# The transaction that others of the same task join.
_outer: ContextVar[tuple[Database, Connection] | None] = ContextVar("outer_transaction", default=None)


def _new_pool(url: str, service: str, *, min_size: int, max_size: int) -> "asyncpg.Pool[Any]":
    return asyncpg.create_pool(
        service_url(url, service),
        min_size=min_size,
        max_size=max_size,
        init=_set_codecs,
        connection_class=KeepaliveConnection,
        command_timeout=30,
        # No other parameters: a pooler refuses those that it does not know. The rest are settings of the
        # role.
        server_settings={"application_name": f"studio-{service}"},
    )


class _Acquired:
    """A class, not a generator, because every request enters and leaves one."""

    __slots__ = ("_conn", "_pool", "_wait")

    def __init__(self, pool: ConnectionPool, wait: Histogram) -> None:
        self._pool = pool
        self._wait = wait

    async def __aenter__(self) -> Connection:
        started = time.perf_counter()
        conn = self._conn = self._pool.acquire_idle() or await self._pool.acquire()
        self._wait.observe(time.perf_counter() - started)
        return conn

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or not was_interrupted(kind):
            self._pool.release(self._conn)
        else:
            self._pool.reset(self._conn)


class _SingleWrite(_Acquired):
    __slots__ = ("_writes",)

    def __init__(self, pool: ConnectionPool, wait: Histogram, writes: _Writes) -> None:
        super().__init__(pool, wait)
        self._writes = writes

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, trace)
        if error is None:
            self._writes.succeeded()
        elif is_unavailable(error):
            self._writes.failed(error)
            if was_cut_off(error):
                raise UpstreamTimeout from error


class _Transaction(_SingleWrite):
    __slots__ = ("_transaction",)

    async def __aenter__(self) -> Connection:
        conn = await super().__aenter__()
        self._transaction = conn.transaction()
        try:
            await self._transaction.start()
        except BaseException as problem:
            await _Acquired.__aexit__(self, type(problem), problem, None)
            raise
        return conn

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                await self._transaction.commit()
                self._writes.succeeded()
            else:
                if error is not None and is_unavailable(error):
                    self._writes.failed(error)
                if was_interrupted(kind):
                    self._pool.reset(self._conn, self._transaction)
                    return
                if not is_closed(self._conn):
                    await self._transaction.rollback()
        except BaseException as problem:
            self._pool.reset(self._conn)
            if kind is None and is_unavailable(problem):
                self._writes.failed(problem)
                raise UpstreamTimeout from problem
            raise
        await _Acquired.__aexit__(self, kind, error, trace)


@asynccontextmanager
async def _savepoint(conn: Connection) -> AsyncIterator[Connection]:
    inner = conn.transaction()
    await inner.start()
    try:
        yield conn
    except BaseException as problem:
        # After an interruption the whole transaction ends with its connection.
        if not was_interrupted(type(problem)) and not is_closed(conn):
            await inner.rollback()
        raise
    await inner.commit()


async def _set_codecs(conn: Connection) -> None:
    await conn.set_type_codec("uuid", schema="pg_catalog", encoder=str, decoder=str, format="text")
    await conn.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=_to_json, decoder=msgspec.json.decode, format="text"
    )


def _to_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def columns(items: Collection[object], *names: str) -> list[list[Any]]:
    """A list for each name, as `unnest` takes them. A name may be a path, such as `lease.token`."""
    return [[value(item) for item in items] for value in map(attrgetter, names)]


# A condition that makes a statement's commit asynchronous: it does not wait for the disk.
# Only for a statement whose loss in a crash of the database does no harm. It is the statement's own
# transaction, or the whole of one in which nothing else must survive.
ASYNCHRONOUS_COMMIT = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'"
