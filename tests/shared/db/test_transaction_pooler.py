"""PgBouncer by transaction: after each transaction, a connection may continue on another server session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from shared.background import Wakeup
from shared.db.database import Database
from shared.db.unavailable import is_unavailable
from shared.events.commit_listener import CommitListener
from tests.harness.databases import connected
from tests.harness.eventually import eventually, until
from tests.harness.pgbouncer import running_pgbouncer

CLIENTS, SESSIONS, ROUNDS = 6, 2, 20
PID = "SELECT pg_backend_pid()"
SLEEPING = "SELECT count(*) FROM pg_stat_activity WHERE query = $1 AND state = 'active'"


class CountedWakeup(Wakeup):
    woken = 0

    def wake(self) -> None:
        self.woken += 1
        super().wake()


@asynccontextmanager
async def pooled(
    url: str, *, sessions: int = SESSIONS, statements: int = 200, direct_url: str | None = None
) -> AsyncIterator[Database]:
    with running_pgbouncer(
        url, pool_size=sessions, statements=statements, only_transaction_mode=True
    ) as pooled_url:
        db = await Database.connect(pooled_url, "bookings", size=CLIENTS, direct_url=direct_url)
        try:
            yield db
        finally:
            await db.close()


@pytest.mark.parametrize("statements", [200, 4], ids=["all are kept", "most are evicted"])
async def test_prepared_statements_work_on_any_session(database_url: str, statements: int) -> None:
    """asyncpg prepares a statement once per connection. The pooler prepares it on each session it uses."""
    used: list[set[int]] = []

    async def client(db: Database, number: int) -> None:
        mine: set[int] = set()
        used.append(mine)
        async with db.connection() as conn:
            for step in range(ROUNDS):
                assert await conn.fetchval(f"SELECT $1::int * 100 + {step}", number) == number * 100 + step
                assert await conn.fetchval("SELECT $1::jsonb", {"client": number}) == {"client": number}
                mine.add(await conn.fetchval(PID))

    async with pooled(database_url, statements=statements) as db:
        await asyncio.gather(*(client(db, number) for number in range(CLIENTS)))
    assert len(set.union(*used)) == SESSIONS, "few sessions served all clients"
    assert max(map(len, used)) == SESSIONS, "a client changed its session"


async def test_a_session_keeps_nothing_of_a_transaction(database_url: str) -> None:
    """Settings of a transaction end with it. The role's own are the same in every session."""

    async def client(db: Database) -> None:
        for _ in range(ROUNDS):
            async with db.transaction() as conn:
                await conn.execute("SET LOCAL lock_timeout = '77ms'")
                assert await conn.fetchval("SHOW lock_timeout") == "77ms"
            async with db.connection() as conn:
                assert await conn.fetchval("SHOW lock_timeout") == "0"
                assert await conn.fetchval("SELECT current_schema()") == "bookings"
                assert await conn.fetchval("SHOW timezone") == "UTC"

    async with pooled(database_url) as db:
        await asyncio.gather(*(client(db) for _ in range(CLIENTS)))


async def test_a_cancelled_statement_ends_at_the_server(database_url: str) -> None:
    """The pooler passes a cancellation on to the session that runs the statement, and to no other."""
    statement = "SELECT pg_sleep(600)"
    async with connected(database_url) as admin, pooled(database_url, sessions=1) as db:

        async def sleep() -> None:
            async with db.connection() as conn:
                await conn.fetchval(statement, timeout=600)

        async def sleeping() -> bool:
            return bool(await admin.fetchval(SLEEPING, statement))

        task = asyncio.create_task(sleep())
        await eventually(sleeping)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with db.connection() as conn:
            assert await conn.fetchval("SELECT 1") == 1, "the only session is free again"
        assert not await sleeping()


async def test_a_session_that_the_server_ends_counts_as_unavailable(database_url: str) -> None:
    """The pooler reports it in its own words. A partner gets 503, and the next request works."""
    async with connected(database_url) as admin, pooled(database_url) as db:
        with pytest.raises(Exception) as problem:
            async with db.transaction() as conn:
                await admin.execute("SELECT pg_terminate_backend($1)", await conn.fetchval(PID))
                await conn.fetchval("SELECT 1")
        assert is_unavailable(problem.value), repr(problem.value)

        async def works() -> bool:
            async with db.connection() as conn:
                return bool(await conn.fetchval("SELECT true"))

        assert await eventually(works)


async def test_a_relay_listens_past_the_pooler(database_url: str) -> None:
    """By `STUDIO_DATABASE_DIRECT_URL`. Without it notifications get lost, and the log says what to set."""
    async with pooled(database_url, direct_url=database_url) as db:
        writer, reader = CountedWakeup(), CountedWakeup()
        one, other = (CommitListener(db, "bookings", wakeup) for wakeup in (writer, reader))
        with capture_logs() as lines:
            await one.listen()
            await other.listen()
        assert lines == []
        writer.notify()
        await one.wake_others(unless=False)
        await until(lambda: reader.woken == 1)
        assert writer.woken == 0
        await one.close()
        await other.close()
    async with pooled(database_url) as db:
        session = CommitListener(db, "bookings", Wakeup())
        with capture_logs() as lines:
            await session.listen()
        assert [(line["event"], line["set"]) for line in lines] == [
            ("relay_behind_pooler", "STUDIO_DATABASE_DIRECT_URL")
        ]
        await session.close()
