"""Postgres restarted, crashed, without connections, read-only, locked, or on a full disk."""

import asyncio
import os
import random
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.chaos.arena import DATABASE, Arena
from tests.chaos.faults.fault import Fault, Group, Injection

TERMINATE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()
"""
TABLES = ("bookings.outbox", "bookings.classes", "bookings.bookings", "webhooks.events", "webhooks.lanes")
SPARE_BYTES = 256 * 1024


@asynccontextmanager
async def restart(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    await asyncio.to_thread(arena.postgres.stop)
    yield "stopped in order"
    await arena.start_postgres()


@asynccontextmanager
async def crash(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """SIGKILL to the postmaster, like the OOM killer. The next start cleans up."""
    os.kill(int((arena.postgres.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    with suppress(Exception):
        await asyncio.to_thread(arena.postgres.stop)
    yield "postmaster killed"
    await arena.start_postgres()


@asynccontextmanager
async def terminate(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    times = draw.randint(1, 6)
    for _ in range(times):
        await arena.admin(TERMINATE, DATABASE)
        await asyncio.sleep(draw.uniform(0.05, 0.5))
    yield f"{times} times"


def configured(on: str, off: str) -> Injection:
    """With an administrator's statements, on a connection that the fault does not affect."""

    @asynccontextmanager
    async def inject(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
        await arena.admin(on)
        await arena.admin("SELECT pg_reload_conf()")
        await arena.admin(TERMINATE, DATABASE)
        try:
            yield on
        finally:
            await arena.admin(off)
            await arena.admin("SELECT pg_reload_conf()")

    return inject


@asynccontextmanager
async def lock_tables(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    table = draw.choice(TABLES)
    conn = await arena.connect(DATABASE)
    try:
        await conn.execute("BEGIN")
        await conn.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE", timeout=30)
        yield table
    finally:
        await conn.close()


@asynccontextmanager
async def full_disk(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """Shrinks the mount to its current content, so that filling it takes no memory."""
    assert arena.mount is not None
    facts = os.statvfs(arena.mount)
    used = (facts.f_blocks - facts.f_bfree) * facts.f_frsize
    await arena.resize_mount(used + SPARE_BYTES)
    try:
        yield f"{used // 2**20} MB used"
    finally:
        await arena.resize_mount(None)
        # A full WAL disk stops the server, and its next start needs free space.
        if not arena.postgres.alive:
            await arena.start_postgres()


def no_mount() -> str | None:
    is_possible = os.geteuid() == 0 and shutil.which("mount")
    return None if is_possible else "the full disk needs root and mount, for a tmpfs"


POSTGRES = Group(
    "postgres",
    (
        Fault("restart", restart, (0.2, 3.0)),
        Fault("crash", crash, (0.2, 3.0)),
        Fault("terminate backends", terminate, (0.0, 0.5)),
        Fault(
            "read-only",
            configured(
                "ALTER SYSTEM SET default_transaction_read_only = on",
                "ALTER SYSTEM RESET default_transaction_read_only",
            ),
            (2.0, 5.0),
        ),
        Fault(
            "no connection left",
            configured(
                f"ALTER DATABASE {DATABASE} CONNECTION LIMIT 0",
                f"ALTER DATABASE {DATABASE} CONNECTION LIMIT -1",
            ),
            (2.0, 5.0),
        ),
        Fault(
            "database closed to connections",
            configured(
                f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS false",
                f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS true",
            ),
            (2.0, 5.0),
        ),
        Fault("table locked", lock_tables, (2.0, 12.0)),
        Fault("full disk", full_disk, (2.0, 6.0), no_mount),
    ),
)
