"""Tells relays in other replicas that something was committed, so that they need not poll often."""

import contextlib
from typing import Any

import asyncpg
import structlog

from shared.background import Wakeup
from shared.db.connection_pool import is_closed
from shared.db.database import Database
from shared.wire import new_id

log = structlog.get_logger("relay")

WAKE_OTHERS = "SELECT pg_notify('outbox:' || current_schema(), $1)"
BACKEND = "SELECT pg_backend_pid()"


class CommitListener:
    """Wakes the relay after commits of other replicas, and theirs after ours. Polling alone would do, later.

    It has a database session of its own: NOTIFY inside a write would take a global lock at the commit.
    """

    def __init__(self, database: Database, service: str, wakeup: Wakeup) -> None:
        self.database = database
        self.service = service
        self.wakeup = wakeup
        self._id = new_id()
        self._passed_on = 0
        self._conn: Any = None

    async def listen(self) -> None:
        if self._conn is not None and not is_closed(self._conn):
            return
        await self.close()
        self._conn = conn = await self.database.session_pool.acquire(timeout=5)
        try:
            if await conn.fetchval(BACKEND) != conn.get_server_pid():
                # A pooler invents the number that it tells its clients. By transaction, other clients get the
                # notifications: rows are still relayed, but only at the next poll.
                log.warning("relay_behind_pooler", service=self.service, set="STUDIO_DATABASE_DIRECT_URL")
            await conn.add_listener(f"outbox:{self.service}", self._heard)
        except BaseException:
            await self.close()
            raise

    async def wake_others(self, *, unless: bool) -> None:
        if self.wakeup.notified != self._passed_on:
            self._passed_on = self.wakeup.notified
            if not unless:
                await self._conn.execute(WAKE_OTHERS, self._id)

    async def close(self) -> None:
        conn, self._conn = self._conn, None
        if conn is not None:
            with contextlib.suppress(asyncpg.InterfaceError):
                conn.terminate()
            await self.database.session_pool.release(conn)

    def _heard(self, conn: Any, pid: int, channel: str, payload: object) -> None:
        if payload != self._id:
            self.wakeup.wake()
