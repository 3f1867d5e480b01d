"""A write of one statement, which commits by itself."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from shared.db.database import Database
from shared.errors import UpstreamTimeout
from tests.harness.databases import connected


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = await Database.connect(database_url, "bookings", size=2)
    yield database
    await database.close()


async def test_a_write_whose_connection_is_lost_has_an_unknown_outcome(
    db: Database, database_url: str
) -> None:
    """It may be committed: the partner gets 504 and repeats it with the same key, not 503."""
    pids: asyncio.Queue[int] = asyncio.Queue()

    async def write() -> None:
        async with db.single_write() as conn:
            await pids.put(await conn.fetchval("SELECT pg_backend_pid()"))
            await conn.execute("SELECT pg_sleep(30)")

    writing = asyncio.create_task(write())
    async with connected(database_url) as conn:
        await conn.execute("SELECT pg_terminate_backend($1)", await pids.get())
    with pytest.raises(UpstreamTimeout):
        await writing
    assert db.write_problem() is not None


async def test_a_write_that_the_server_refuses_is_known_not_to_have_happened(db: Database) -> None:
    """503: nothing was done."""
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        async with db.single_write() as conn:
            await conn.execute("SET default_transaction_read_only = on")
            await conn.execute("CREATE TABLE never (id int)")


async def test_within_a_transaction_it_is_a_part_of_that(db: Database) -> None:
    """An idempotency key, what it stands for and the stored response are one transaction."""
    async with db.transaction() as outer:
        async with db.joined(outer), db.single_write() as conn:
            assert conn is outer
            await conn.execute("SELECT 1")
        assert outer.is_in_transaction()
