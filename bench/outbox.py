"""Keeps the relay from running, as if another replica held its lock."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg

HOLD = "SELECT pg_advisory_lock(hashtextextended('outbox:bookings', 0))"
# The lock is bound to the relay's connection: terminating the connection releases it.
END_RELAY = """
SELECT count(pg_terminate_backend(pid)) FROM pg_locks
WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('outbox:bookings', 0)
"""


@contextmanager
def relaying_elsewhere(database_url: str) -> Iterator[None]:
    """Events stay in the outbox meanwhile and are deleted at the end."""
    held, leave = threading.Event(), threading.Event()
    failure: list[BaseException] = []

    async def hold() -> None:
        conn: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
        try:
            waiting = asyncio.create_task(conn.execute(HOLD))
            other: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
            while not waiting.done():
                await other.fetchval(END_RELAY)
                await asyncio.wait((waiting,), timeout=0.2)
            await waiting
            await other.close()
            held.set()
            await asyncio.to_thread(leave.wait)
            await conn.execute("TRUNCATE bookings.outbox")
        finally:
            await conn.close()

    def run() -> None:
        try:
            asyncio.run(hold())
        except BaseException as problem:
            failure.append(problem)
            held.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    held.wait(30)
    try:
        if failure:
            raise failure[0]
        yield
    finally:
        leave.set()
        thread.join(30)
