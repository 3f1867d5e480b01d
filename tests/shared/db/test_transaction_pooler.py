"""PgBouncer by transaction: after each transaction, a connection may continue on another server session."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from shared.background import Wakeup
from shared.db.database import Database
from shared.db.unavailable import is_unavailable
from shared.events.commit_listener import CommitListener
from tests.harness.databases import connected
from tests.harness.eventually import eventually
from tests.harness.pgbouncer import running_pgbouncer

PID = "SELECT pg_backend_pid()"


@asynccontextmanager
async def pooled(url: str, *, direct_url: str | None = None) -> AsyncIterator[Database]:
    with running_pgbouncer(url, pool_size=2, only_transaction_mode=True) as pooled_url:
        db = await Database.connect(pooled_url, "bookings", size=2, direct_url=direct_url)
        try:
            yield db
        finally:
            await db.close()


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


async def test_a_relay_behind_the_pooler_says_what_to_set(database_url: str) -> None:
    """Notifications would get lost. With `STUDIO_DATABASE_DIRECT_URL` it listens past the pooler."""
    warning = [("relay_behind_pooler", "STUDIO_DATABASE_DIRECT_URL")]
    for direct_url, said in ((None, warning), (database_url, [])):
        async with pooled(database_url, direct_url=direct_url) as db:
            listener = CommitListener(db, "bookings", Wakeup())
            with capture_logs() as lines:
                await listener.listen()
            assert [(line["event"], line["set"]) for line in lines] == said
            await listener.close()
