"""The connection pool: connections are reused and never leak state between uses."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from shared.db import connection_pool
from shared.db.database import Connection, Database
from shared.errors import NotFound, UpstreamTimeout
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
    """Without a reset query in between, after successful and refused statements alike.

    A caller that forgets to end its transaction does not pass it on to the next.
    """
    async with db.connection() as conn:
        first = await pid(conn)
    with pytest.raises(NotFound):
        async with db.transaction() as conn:
            raise NotFound
    async with db.transaction() as conn:
        assert await pid(conn) == first
        assert conn.is_in_transaction()
    async with db.connection() as conn:
        await conn.execute("BEGIN")
    async with db.connection() as conn:
        assert not conn.is_in_transaction()


async def test_waiting_too_long_for_a_connection_fails(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that times out leaves the queue."""
    monkeypatch.setattr(connection_pool, "ACQUIRE_TIMEOUT", 0.05)
    async with db.connection():
        with pytest.raises(TimeoutError):
            async with db.connection():
                pass
    async with db.connection() as conn:
        assert await conn.fetchval("SELECT 1") == 1


@pytest.mark.parametrize("interruption", [asyncio.CancelledError, TimeoutError])
async def test_an_interrupted_statement_reaches_nobody_else(
    db: Database, interruption: type[BaseException]
) -> None:
    """The server may still run it. Its transaction is rolled back, and the next session is clean."""
    async with db.connection() as conn:
        await conn.execute("SET application_name = 'left behind'")

    async def slow() -> None:
        async with db.transaction() as conn:
            assert await conn.fetchval("SHOW application_name") == "left behind", "control"
            await conn.execute("INSERT INTO locations VALUES (gen_random_uuid(), gen_random_uuid())")
            await conn.execute("SELECT pg_sleep(60)", timeout=0.1 if interruption is TimeoutError else 60)

    task = asyncio.create_task(slow())
    if interruption is asyncio.CancelledError:
        await asyncio.sleep(0.1)
        task.cancel()
    with pytest.raises(interruption):
        await task
    async with db.connection() as conn:
        assert not conn.is_in_transaction()
        assert await conn.fetchval("SHOW application_name") == "studio-bookings"
        assert await conn.fetchval("SELECT count(*) FROM locations") == 0


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


async def test_a_service_waits_for_a_database_that_comes_up_later(database_url: str) -> None:
    """As in compose and Kubernetes: what it gets once the server is there works."""
    address = urlsplit(database_url)
    async with linked("postgres", address.port or 0) as link:
        link.refuse()
        through_link = database_url.replace(f":{address.port}", f":{link.port}")
        connecting = asyncio.create_task(Database.connect(through_link, "bookings", size=1))
        await asyncio.sleep(0.5)
        assert not connecting.done()
        await link.heal()
        db = await connecting
        async with db.connection() as conn:
            assert await pid(conn)
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


async def test_a_write_whose_connection_is_lost_has_an_unknown_outcome(
    db: Database, database_url: str
) -> None:
    """A single write may be committed: the partner gets 504 and repeats it with the same key, not 503."""
    pids: asyncio.Queue[int] = asyncio.Queue()

    async def write() -> None:
        async with db.single_write() as conn:
            await pids.put(await pid(conn))
            await conn.execute("SELECT pg_sleep(30)")

    writing = asyncio.create_task(write())
    await end(database_url, await pids.get())
    with pytest.raises(UpstreamTimeout):
        await writing
    assert db.write_problem() is not None


async def test_a_write_that_the_server_refuses_is_known_not_to_have_happened(db: Database) -> None:
    """503: nothing was done."""
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        async with db.single_write() as conn:
            await conn.execute("SET default_transaction_read_only = on")
            await conn.execute("CREATE TABLE never (id int)")


async def test_a_single_write_within_a_transaction_is_a_part_of_that(db: Database) -> None:
    """An idempotency key, what it stands for and the stored response are one transaction."""
    async with db.transaction() as outer:
        async with db.joined(outer), db.single_write() as conn:
            assert conn is outer
            await conn.execute("SELECT 1")
        assert outer.is_in_transaction()


async def end(database_url: str, backend: int) -> None:
    async with connected(database_url) as admin:
        await admin.execute("SELECT pg_terminate_backend($1)", backend)
        while await admin.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", backend):
            await asyncio.sleep(0.01)
    # The event loop notices the end when it next polls the socket.
    await asyncio.sleep(0.05)
