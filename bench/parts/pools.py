"""python -m bench.parts.pools URL ROUNDS: our connection pool against asyncpg's own.

asyncpg's pool is also measured without its reset query (its `reset` hook does nothing), which is what a user
of the library would change. All have the same number of connections and the same acquire timeout.
"""

import sys
from typing import Any

import asyncpg
import uvloop

from bench.parts.cpu import Use, in_turns, told
from bench.studios import READING
from shared.db.database import Database
from shared.http.server import tune_interpreter

SIZE = 32
TIMEOUT = 5.0
STATEMENTS = {
    "one row": "SELECT title FROM bookings.classes WHERE studio_id = $1 AND id = $2",
    "50 rows": "SELECT title, description FROM bookings.classes WHERE studio_id = $1 AND id >= $2 LIMIT 50",
}
USES = {"nothing asked": 1_600, "one row": 480, "50 rows": 320}
OURS, POOL, NO_RESET = "ours", "asyncpg's pool", "asyncpg's pool, no reset"


async def no_reset(_: Any) -> None:
    """Leaves the session as it is."""


async def main(url: str, rounds: int) -> None:
    database = await Database.connect(url, "bookings", size=SIZE)
    settings: dict[str, Any] = {"min_size": 1, "max_size": SIZE, "command_timeout": 30}
    pools = {
        POOL: await asyncpg.create_pool(url, **settings),
        NO_RESET: await asyncpg.create_pool(
            url, reset=no_reset, max_inactive_connection_lifetime=0, **settings
        ),
    }
    tune_interpreter()
    found = {}
    for name, uses in USES.items():
        ways = {OURS: _of_ours(database, STATEMENTS.get(name))}
        ways |= {pool: _of_pool(opened, STATEMENTS.get(name)) for pool, opened in pools.items()}
        found[name] = await in_turns(ways, rounds=rounds, uses=uses)
    print(told(found))
    for opened in pools.values():
        await opened.close()
    await database.close()


def _of_ours(database: Database, sql: str | None) -> Use:
    async def use() -> None:
        async with database.connection() as conn:
            if sql is not None:
                await conn.fetch(sql, READING.id, READING.class_id(1))

    return use


def _of_pool(pool: "asyncpg.Pool[Any]", sql: str | None) -> Use:
    async def use() -> None:
        async with pool.acquire(timeout=TIMEOUT) as conn:
            if sql is not None:
                await conn.fetch(sql, READING.id, READING.class_id(1))

    return use


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2])))
