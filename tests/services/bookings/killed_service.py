"""A bookings service that kills itself at a stage of its first write. Forked by test_killed_mid_write.py."""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any

import structlog

from services.bookings.context import Bookings
from services.bookings.routes import routes
from shared.background import Wakeup
from shared.db.database import Connection, Database
from shared.http.caller import CallerVerifier
from shared.http.server import Address, Listener, catch_stop_signals, listening
from shared.http.service import build_service
from tests.harness.database_layout import open_database


class Stage(StrEnum):
    CLAIMED = "claimed"
    HALF_WRITTEN = "half_written"
    WRITTEN = "written"
    COMMITTED = "committed"


# The statements that claim an idempotency key, and the first that writes what was decided.
CLAIMS = ("claim_keys(", "start_bookings(")
WRITES = ("INSERT INTO bookings", "INSERT INTO cancellations")


def kill_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class FaultyConnection:
    """Passes everything on to the real connection, and kills the process after the fatal statement."""

    def __init__(self, conn: Connection, fatal: Stage | None) -> None:
        self._conn = conn
        self._fatal = fatal

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._conn, name)
        if name not in ("execute", "fetch", "fetchrow", "fetchval"):
            return method

        async def faulty(sql: str, *args: Any, **options: Any) -> Any:
            result = await method(sql, *args, **options)
            # A move writes one class after the other.
            if self._fatal is Stage.HALF_WRITTEN and any(text in sql for text in WRITES):
                kill_process()
            if self._fatal is Stage.CLAIMED and any(text in sql for text in CLAIMS):
                kill_process()
            return result

        return faulty


class FaultyDatabase(Database):
    fatal: Stage | None = None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        async with super().transaction() as conn:
            if isinstance(conn, FaultyConnection):
                # A part of one that fails by itself.
                yield conn
                return
            faulty: Any = FaultyConnection(conn, self.fatal)
            yield faulty
            if self.fatal is Stage.WRITTEN:
                kill_process()
        if self.fatal is Stage.COMMITTED:
            kill_process()


async def main(url: str, port: int, caller_key: str, fatal: Stage | None) -> None:
    # A run of 100,000 operations prints its ledger, not every request.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    # Without the loops: the outbox keeps its rows, so that the test can count the events.
    db = await open_database(url, "bookings", size=4, kind=FaultyDatabase)
    assert isinstance(db, FaultyDatabase)
    db.fatal = fatal
    context = Bookings(db=db, wakeup=Wakeup())
    verifier = CallerVerifier((caller_key,))
    service = build_service(
        "bookings", context, routes(), verifier=verifier, checks={"database": db.is_ready}
    )
    async with listening([Listener(Address("bookings", "127.0.0.1", port), service.app)]):
        await catch_stop_signals()


def serve(url: str, port: int, caller_key: str, fatal: Stage | None) -> None:
    asyncio.run(main(url, port, caller_key, fatal))
