"""A dump is restored and the sequences advanced before anything runs: no number is used twice."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from services.cli.database import STATEMENT, advance_in_database
from services.webhooks.actions.operator_repairs import advance_sequences
from services.webhooks.wire.operators import AdvanceSequences
from shared.background import Wakeup
from shared.events.bus.memory import MemoryBus
from shared.events.outbox import add_events
from shared.events.relay import Relay
from shared.servers.postgres import find_postgres
from shared.wire import new_id
from tests.harness.database_layout import opened_database
from tests.harness.databases import connected
from tests.harness.eventually import eventually
from tests.harness.pgbouncer import running_pgbouncer
from tests.harness.receiver import Receiver, receiving
from tests.harness.system import ROOT
from tests.services.webhooks.studio_client import StudioClient, open_studio_client, statuses

BIN = binaries.folder if (binaries := find_postgres()) else ROOT
needs_pg_dump = pytest.mark.skipif(
    not (BIN / "pg_dump").exists() or "STUDIO_DATABASE_URL" in os.environ,
    reason="needs pg_dump of the server's own version",
)
# Of the pooler. With fewer, the script could come back to the session of the statement before it.
SESSIONS = 3
END_SESSIONS = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1"
# `sequence` and `webhook-sequence` of what an endpoint received.
Numbers = tuple[int, int]


@needs_pg_dump
async def test_events_in_a_restored_outbox_get_numbers_after_the_jump(database_url: str) -> None:
    """Committed before the backup and logged after it: partners have seen their number already."""
    async with receiving() as receiver:
        async with open_studio_client(database_url) as client:
            endpoint = await client.endpoint(receiver.url)
            await client.publish_some(3)
            # A delivery that the backup has as open would be made again.
            await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 3)
            waiting, studio_id = client.event(), client.studio_id
            async with opened_database(database_url, "bookings") as db, db.transaction() as outbox:
                await add_events(outbox, [waiting])
            dump = await run(str(BIN / "pg_dump"), "-Fc", database_url)
            # After the backup.
            await client.publish(waiting, client.event(), client.event())
            await receiver.until_count(6)
        assert await numbers(receiver) == {(n, n) for n in range(1, 7)}

        # As in docs/operating/upgrade-and-restore.md: the database is made anew. The tables of its days
        # cannot be dropped one by one.
        server = urlsplit(database_url)._replace(path="/postgres").geturl()
        async with connected(server) as conn:
            # A pooler keeps its sessions, and a database in use cannot be dropped.
            await conn.execute(END_SESSIONS, urlsplit(database_url).path.lstrip("/"))
        options = ("--create", "--clean", "--if-exists", "--exit-on-error")
        await run(str(BIN / "pg_restore"), "-d", server, *options, stdin=dump)
        assert await advance(database_url) == {"object": "sequences_advanced", "studios": 1, "by": 1_000_000}

        async with open_studio_client(database_url) as client, relaying(database_url, client.bus):
            client.studio_id = studio_id
            await receiver.until_count(7)
            assert receiver.received[6].event_id == waiting.id
            await client.publish(client.event())
            await receiver.until_count(8)
        assert await numbers(receiver, first=6) == {(1_000_004, 1_000_004), (1_000_005, 1_000_005)}


async def test_a_new_studio_starts_after_the_jumps_of_every_restore(database_url: str) -> None:
    """Its first event came after the backup. The jumps add up, with services running, too."""
    with pytest.raises(asyncpg.RaiseError, match="a jump of 999999 for lost events"):
        await advance_in_database(database_url, 999_999)
    assert await advance_in_database(database_url, 1_000_000) == 0
    assert await advance_in_database(database_url, 1_500_000) == 0
    async with open_studio_client(database_url) as client:
        await client.publish_some(2)
        assert await sequences(client) == [2_500_001, 2_500_002]
        client.studio_id = new_id()
        await advance_sequences(client.context, AdvanceSequences(studio_ids=[client.studio_id], by=1_000_000))
        await client.publish_some(1)
        assert await sequences(client) == [3_500_001]


async def test_the_jump_is_as_far_as_asked_behind_a_transaction_pooler(database_url: str) -> None:
    """Each transaction may run in another session, so the amount is set in the one that advances."""
    async with connected(database_url) as conn:
        await conn.execute("ALTER TABLE webhooks.event_counters OWNER TO studio_webhooks")
        await conn.execute("ALTER TABLE webhooks.lanes OWNER TO studio_webhooks")
        for schema in ("bookings", "catalog", "forms"):
            await conn.execute(f"GRANT USAGE ON SCHEMA {schema} TO studio_webhooks")
            await conn.execute(f"GRANT SELECT, UPDATE ON {schema}.outbox TO studio_webhooks")
    with running_pgbouncer(database_url, pool_size=SESSIONS, only_transaction_mode=True) as pooled_url:
        address = urlsplit(pooled_url)
        url = address._replace(netloc=f"studio_webhooks@{address.netloc.rpartition('@')[2]}").geturl()
        sessions: list[asyncpg.Connection[Any]] = [await asyncpg.connect(url) for _ in range(SESSIONS)]
        for session in sessions:
            await session.execute("BEGIN")
        assert len({await session.fetchval("SELECT pg_backend_pid()") for session in sessions}) == SESSIONS
        for session in sessions:
            await session.execute("COMMIT")
            await session.close()
        # The pooler now uses them in turn.
        await advance_in_database(url, 3_000_000)
    async with connected(database_url) as conn:
        await conn.execute("INSERT INTO webhooks.event_counters (studio_id) VALUES ($1)", new_id())
        assert await conn.fetchval("SELECT last_sequence FROM webhooks.event_counters") == 3_000_000


async def test_the_statement_runs_by_itself_as_in_psql(database_url: str) -> None:
    """Without the setting it skips a million, and says so."""
    said: list[str] = []
    async with open_studio_client(database_url) as client:
        await client.publish_some(1)
        async with connected(database_url) as conn:
            conn.add_log_listener(lambda _, message: said.append(message.message))
            await conn.execute(STATEMENT.read_text())
        assert said == ["The sequences skip 1000000 numbers"]
        await client.publish_some(1)
        assert await sequences(client) == [1, 1_000_002]


async def test_the_role_of_a_service_may_not_advance(database_url: str) -> None:
    """One sentence, and nothing has changed: only whoever migrates owns the tables."""
    async with connected(database_url) as conn:
        await conn.execute("INSERT INTO webhooks.event_counters VALUES ($1, 5)", new_id())
        await conn.execute("SET ROLE studio_webhooks")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await conn.execute(STATEMENT.read_text())
        assert await conn.fetchval("SELECT last_sequence FROM webhooks.event_counters") == 5


async def test_a_database_without_the_event_log_can_be_prepared_too(database_url: str) -> None:
    """As when each service has its own."""
    async with connected(database_url) as conn:
        await conn.execute("DROP SCHEMA webhooks CASCADE")
    assert await advance_in_database(database_url, 1_000_000) == 0


@asynccontextmanager
async def relaying(database_url: str, bus: Any) -> AsyncIterator[None]:
    """The producer is started again, and publishes what its restored outbox has."""
    assert isinstance(bus, MemoryBus)
    async with opened_database(database_url, "bookings", size=4) as db:
        relay = Relay(db, bus, Wakeup(), service="bookings")

        async def published() -> bool:
            await relay.step()
            async with db.connection() as conn:
                return bool(await conn.fetchval("SELECT count(*) = 0 FROM outbox"))

        await eventually(published)
        yield
        await relay.stop()


async def numbers(receiver: Receiver, *, first: int = 0) -> set[Numbers]:
    return {(json.loads(got.body)["sequence"], got.sequence) for got in receiver.received[first:]}


async def sequences(client: StudioClient) -> list[int]:
    return [event["sequence"] for event in (await client.call("GET", "/events")).json()["data"]]


async def advance(database_url: str) -> Any:
    """With no service running, and as the role that migrates."""
    words = ["services.cli.main", "sequences", "advance", "--offline", "--yes", "--json"]
    environment = {"STUDIO_DATABASE_URL": database_url}
    return json.loads(await run(sys.executable, "-m", *words, environment=environment))


async def run(*command: str, stdin: bytes = b"", environment: dict[str, str] | None = None) -> bytes:
    child = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env=os.environ | (environment or {}),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await child.communicate(stdin)
    assert child.returncode == 0, err.decode()
    return out
