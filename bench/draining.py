"""How fast a backlog of events drains.

Work is done in batches. So the first and the last tenth do not count: each may wait for a single batch.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import asyncpg
from msgspec import Struct

from bench.events import POLL_SECONDS, TIMEOUT, add_copies, settled
from bench.problem import BenchProblem
from bench.studios import Studio
from bench.system import System


class Backlog(Struct, frozen=True):
    """`count` grows with completed work. With `emptied` it returns to its start, else it ends higher."""

    count: str
    emptied: bool = False


def drain_rate(
    system: System, backlog: Backlog, studios: Sequence[Studio], *, each: int, units: int
) -> float:
    """Units a second for `each` events per studio, all committed at once."""
    return asyncio.run(_drain(system.database_url, backlog, [studio.id for studio in studios], each, units))


async def _drain(url: str, backlog: Backlog, studios: list[str], each: int, units: int) -> float:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(url)
    try:
        before = await settled(conn, backlog.count)
        await add_copies(conn, studios, each)
        begin = before - units if backlog.emptied else before
        first, last = units // 10, units - units // 10
        started, at_start, rate = 0.0, 0, 0.0
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            done = int(await conn.fetchval(backlog.count)) - begin
            if started and not rate and done >= last:
                rate = (done - at_start) / (time.perf_counter() - started)
            if not started and done >= first:
                started, at_start = time.perf_counter(), done
            if rate and done >= units:
                return rate
            await asyncio.sleep(POLL_SECONDS)
        raise BenchProblem(f"{done:,} of {units:,} were done in {TIMEOUT:.0f} s")
    finally:
        await conn.close()
