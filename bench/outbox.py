"""Keeps the relay from running: it cannot renew its leases."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg

# A relay renews its leases once a second, and does nothing while it cannot.
HOLD = "LOCK TABLE bookings.leases IN ACCESS EXCLUSIVE MODE"
HEARTBEAT_SECONDS = 2.0


@contextmanager
def relaying_elsewhere(database_url: str) -> Iterator[None]:
    """Events stay in the outbox meanwhile and are deleted at the end."""
    held, leave = threading.Event(), threading.Event()
    failure: list[BaseException] = []

    async def hold() -> None:
        conn: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
        try:
            async with conn.transaction():
                await conn.execute(HOLD)
                await asyncio.sleep(HEARTBEAT_SECONDS)
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
