"""Runs code that opens its own transactions, then rolls back everything it wrote."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from shared.db.database import Connection, Database

T = TypeVar("T")


class _RollBack(Exception):
    pass


class DryRunDatabase(Database):
    """One open transaction: each `transaction()` is a savepoint in it and sees what came before."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        return self._same()

    def transaction(self) -> AbstractAsyncContextManager[Connection]:
        return self._savepoint()

    @asynccontextmanager
    async def _same(self) -> AsyncIterator[Connection]:
        yield self._conn

    @asynccontextmanager
    async def _savepoint(self) -> AsyncIterator[Connection]:
        async with self._conn.transaction():
            yield self._conn


async def dry_run(db: Database, work: Callable[[Database], Awaitable[T]]) -> T:
    """Runs `work` on a database that is one transaction, rolls it back, and returns the result of `work`."""
    results: list[T] = []
    try:
        async with db.transaction() as conn:
            results.append(await work(DryRunDatabase(conn)))
            raise _RollBack
    except _RollBack:
        return results[0]
