"""Statements that run often name the partition that they need, as long as it is one.

A statement on the whole table is planned anew each time, because which partitions it needs depends on its
parameters, and that takes longer than running it. One on a partition has the same text for a day and is
planned once.
"""

import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import asyncpg

from services.webhooks.rules.days import Span
from shared.db.database import Connection

# Stands in a statement where the name of a table goes on.
PARTITION = "/*partition*/"
DAYS = "SELECT since, until FROM log_days"
REFRESH_SECONDS = 60.0
LAST_MOMENT = timedelta(microseconds=1)

T = TypeVar("T")


class DayTables:
    """A copy of `log_days`. Days are added a week ahead and dropped after a month, so it may be old."""

    def __init__(self) -> None:
        self._days: list[Span] = []
        self._read_at = float("-inf")

    async def partition_of(self, conn: Connection, span: Span) -> str:
        """How the name of the one partition that has the whole span goes on. Empty if there is none."""
        if time.monotonic() - self._read_at > REFRESH_SECONDS:
            self._days = [Span(row["since"], row["until"]) for row in await conn.fetch(DAYS)]
            self._read_at = time.monotonic()
        for day in self._days:
            if day.contains(span.since) and day.contains(span.until):
                return "_before" if day.since.year < 1000 else f"_{day.since:%Y%m%d}"
        return ""

    async def read(self, conn: Connection, sql: str, span: Span, run: Callable[[str], Awaitable[T]]) -> T:
        """Runs the statement on the partition of the span, whose end is not part of it."""
        partition = await self.partition_of(conn, Span(span.since, span.until - LAST_MOMENT))
        return await self.run_on(partition, sql, run)

    async def run_on(self, partition: str, sql: str, run: Callable[[str], Awaitable[T]]) -> T:
        """Outside a transaction. A partition that was dropped meanwhile has no row in the table either."""
        try:
            return await run(sql.replace(PARTITION, partition))
        except asyncpg.UndefinedTableError:
            if not partition:
                raise
            self._read_at = float("-inf")
            return await run(sql.replace(PARTITION, ""))
