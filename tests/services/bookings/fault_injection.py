"""A database that fails at a chosen stage of a write: by SIGKILL to its own process, or by an exception."""

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any

from shared.db.database import Connection, Database


class Stage(StrEnum):
    CLAIMED = "claimed"
    DECIDED = "decided"
    HALF_WRITTEN = "half_written"
    WRITTEN = "written"
    COMMITTED = "committed"


# The statements that claim an idempotency key, and the first that writes what was decided.
CLAIMS = ("claim_keys(", "start_bookings(")
WRITES = ("INSERT INTO bookings", "INSERT INTO cancellations")


def kill_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def raise_error() -> None:
    raise RuntimeError("injected")


class FaultyConnection:
    """Passes everything on to the real connection, and fails before or after the fatal statement."""

    def __init__(self, conn: Connection, fatal: Stage | None, fail: Callable[[], None]) -> None:
        self._conn = conn
        self._fatal = fatal
        self._fail = fail

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._conn, name)
        if name not in ("execute", "fetch", "fetchrow", "fetchval"):
            return method

        async def faulty(sql: str, *args: Any, **options: Any) -> Any:
            if self._fatal is Stage.DECIDED and any(text in sql for text in WRITES):
                self._fail()
            result = await method(sql, *args, **options)
            # A move writes one class after the other.
            if self._fatal is Stage.HALF_WRITTEN and any(text in sql for text in WRITES):
                self._fail()
            if self._fatal is Stage.CLAIMED and any(text in sql for text in CLAIMS):
                self._fail()
            return result

        return faulty


class FaultyDatabase(Database):
    fatal: Stage | None = None
    fail: Callable[[], None] = staticmethod(kill_process)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        async with super().transaction() as conn:
            if isinstance(conn, FaultyConnection):
                # A part of one that fails by itself.
                yield conn
                return
            faulty: Any = FaultyConnection(conn, self.fatal, self.fail)
            yield faulty
            if self.fatal is Stage.WRITTEN:
                self.fail()
        if self.fatal is Stage.COMMITTED:
            self.fail()
