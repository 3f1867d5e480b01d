"""The connection pool: connections are reused in FIFO order and never leak state between uses."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from shared.db import connection_pool
from shared.db.database import Connection, Database
from shared.errors import NotFound
from tests.chaos.link import BOTH, linked
from tests.harness.databases import connected
from tests.harness.eventually import until

PID = "SELECT pg_backend_pid()"


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = await Database.connect(database_url, "bookings", size=1)
    yield database
    await database.close()


async def pid(conn: Connection) -> int:
    return int(await conn.fetchval(PID))


async def test_a_connection_is_used_again(db: Database) -> None:
    """Without a reset query in between, after successful and refused statements alike."""
    async with db.connection() as conn:
        first = await pid(conn)
    with pytest.raises(NotFound):
        async with db.transaction() as conn:
            raise NotFound
    async with db.transaction() as conn:
        assert await pid(conn) == first
        assert conn.is_in_transaction()


async def test_callers_wait_in_line(db: Database) -> None:
    """The next caller gets the connection that is released."""
    order: list[int] = []

    async def use(number: int) -> None:
        async with db.connection() as conn:
            await conn.fetchval("SELECT pg_sleep(0.01)")
            order.append(number)

    await asyncio.gather(*(use(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]


async def test_waiting_too_long_for_a_connection_fails(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that times out leaves the queue."""
    monkeypatch.setattr(connection_pool, "ACQUIRE_TIMEOUT", 0.05)
    async with db.connection():
        with pytest.raises(TimeoutError):
            async with db.connection():
                pass
    async with db.connection() as conn:
        assert await conn.fetchval("SELECT 1") == 1


async def test_a_cancelled_statement_reaches_nobody_else(db: Database) -> None:
    """Its transaction is rolled back, and the next caller gets a clean connection."""

    async def slow() -> None:
        async with db.transaction() as conn:
            await conn.execute("SET LOCAL application_name = 'left behind'")
            await conn.execute("INSERT INTO locations VALUES (gen_random_uuid(), gen_random_uuid())")
            await conn.execute("SELECT pg_sleep(60)")

    task = asyncio.create_task(slow())
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with db.connection() as conn:
        assert not conn.is_in_transaction()
        assert await conn.fetchval("SHOW application_name") == "studio-bookings"
        assert await conn.fetchval("SELECT count(*) FROM locations") == 0


async def test_a_connection_whose_statement_timed_out_is_reset(db: Database) -> None:
    """The server may still run the statement, so the next caller does not get the session as it is."""
    async with db.connection() as conn:
        await conn.execute("SET application_name = 'left behind'")
    with pytest.raises(TimeoutError):
        async with db.connection() as conn:
            assert await conn.fetchval("SHOW application_name") == "left behind", "control"
            await conn.execute("SELECT pg_sleep(60)", timeout=0.1)
    async with db.connection() as conn:
        assert await conn.fetchval("SHOW application_name") == "studio-bookings"


async def test_a_dead_link_holds_a_caller_for_one_timeout_only(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither rolling back nor resetting keeps it waiting, and the connection is closed."""
    monkeypatch.setattr(connection_pool, "RELEASE_TIMEOUT", 0.5)
    address = urlsplit(database_url)
    async with linked("postgres", address.port or 0) as link:
        through_link = database_url.replace(f":{address.port}", f":{link.port}")
        db = await Database.connect(through_link, "bookings", size=1)
        async with db.connection() as conn:
            first = await pid(conn)
        async with asyncio.timeout(15):
            with pytest.raises(TimeoutError):
                async with db.transaction() as conn:
                    link.hold(BOTH)
                    await conn.execute("SELECT 1", timeout=0.1)
        await until(lambda: db.pool.get_size() == 0)
        await link.heal()
        async with db.connection() as conn:
            assert await pid(conn) != first
        await db.close()


async def test_connections_notice_that_the_servers_machine_is_gone(db: Database) -> None:
    """Keepalive for idle ones, a limit for unacknowledged bytes of busy ones; for both pools alike."""
    options = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 3, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 20_000}
    known = {getattr(socket, name): value for name, value in options.items() if hasattr(socket, name)}
    async with db.session_pool.acquire() as conn:
        inner: Any = conn
        connection = inner._con._transport.get_extra_info("socket")
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert {name: connection.getsockopt(socket.IPPROTO_TCP, name) for name in known} == known


async def test_a_transaction_left_open_is_ended(db: Database) -> None:
    """A caller that forgets to end it does not pass it on to the next."""
    async with db.connection() as conn:
        await conn.execute("BEGIN")
    async with db.connection() as conn:
        assert not conn.is_in_transaction()


async def test_a_connection_that_the_server_closed_is_replaced(db: Database, database_url: str) -> None:
    """Idle ones, as after a restart of the database, and one in use."""
    async with db.connection() as conn:
        first = await pid(conn)
    await end(database_url, first)
    async with db.connection() as conn:
        second = await pid(conn)
        assert second != first
        await end(database_url, second)
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            await conn.fetchval("SELECT 1")
    async with db.connection() as conn:
        assert await pid(conn) != second


async def test_broken_connections_do_not_fill_the_pool(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver closes them silently: their slots once stayed taken until none was left."""
    monkeypatch.setattr(connection_pool, "ACQUIRE_TIMEOUT", 1.0)
    for _ in range(db.pool.get_max_size()):
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            async with db.transaction() as conn:
                conn._protocol.abort()  # type: ignore[union-attr]
                await conn.fetchval("SELECT 1")
    async with db.connection() as conn:
        assert await conn.fetchval("SELECT 1") == 1


async def end(database_url: str, backend: int) -> None:
    async with connected(database_url) as admin:
        await admin.execute("SELECT pg_terminate_backend($1)", backend)
        while await admin.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", backend):
            await asyncio.sleep(0.01)
    # The event loop notices the end when it next polls the socket.
    await asyncio.sleep(0.05)
