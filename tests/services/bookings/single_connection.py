"""A database with one connection that is never released, for sequential tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from shared.db.database import Connection, Database


class SingleConnectionDatabase(Database):
    """Releasing a connection costs a round trip, which was a third of the stateful test's time."""

    _conn: Any = None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        if self._conn is None:
            self._conn = await self.pool.acquire()
        yield self._conn

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        async with self.connection() as conn, conn.transaction():
            yield conn

    async def close(self) -> None:
        if self._conn is not None:
            await self.pool.release(self._conn)
        await super().close()
