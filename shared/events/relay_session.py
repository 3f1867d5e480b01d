"""A relay's database session: notified of other replicas' commits, and blocks relays of older versions."""

import asyncio
import contextlib
from typing import Any

import asyncpg
import structlog

from shared.background import Wakeup
from shared.db.connection_pool import is_closed
from shared.db.database import Database
from shared.wire import new_id

log = structlog.get_logger("relay")

# The version before partitions relays only while it holds this lock. A shared lock admits many relays of this
# version and none of that one, which deletes rows at the confirm and uses the old queue. Our locks never
# wait.
SHARE_LOCK = "SELECT pg_try_advisory_lock_shared(hashtextextended('outbox:' || current_schema(), 0))"
BACKEND = "SELECT pg_backend_pid()"
WAKE_OTHERS = "SELECT pg_notify('outbox:' || current_schema(), $1)"


class RelaySession:
    def __init__(self, database: Database, service: str, wakeup: Wakeup) -> None:
        self.database = database
        self.service = service
        self.wakeup = wakeup
        self._id = new_id()
        self.heard = 0
        self._conn: Any = None

    async def open(self) -> bool:
        """False while a relay of an older version is running."""
        if self._conn is not None and not is_closed(self._conn):
            return True
        await self.close()
        conn = await self.database.session_pool.acquire(timeout=5)
        try:
            if await conn.fetchval(BACKEND) != conn.get_server_pid():
                # A pooler invents the number that it tells its clients. By transaction, other clients get the
                # notifications: rows are still relayed, but only at the next poll.
                log.warning("relay_behind_pooler", service=self.service, set="STUDIO_DATABASE_DIRECT_URL")
            if not await conn.fetchval(SHARE_LOCK):
                log.info("older_relay_active", service=self.service)
                await conn.execute(WAKE_OTHERS, "")
                await self.database.session_pool.release(conn)
                return False
            await conn.add_listener(f"outbox:{self.service}", self._heard)
        except BaseException:
            await _end(self.database, conn)
            raise
        self._conn = conn
        return True

    async def wake_others(self) -> None:
        """So that a commit is published at once, and not at the next poll of the partition's holder."""
        await self._conn.execute(WAKE_OTHERS, self._id)

    async def close(self) -> None:
        conn, self._conn = self._conn, None
        if conn is not None:
            await _end(self.database, conn)

    def _heard(self, conn: Any, pid: int, channel: str, payload: object) -> None:
        if payload != self._id:
            self.heard += 1
            self.wakeup.notify()


async def _end(database: Database, conn: Any) -> None:
    """Unlocks if that still works. Otherwise the server releases the lock when it ends the session."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(1):
            await conn.execute("SELECT pg_advisory_unlock_all()")
    with contextlib.suppress(asyncpg.InterfaceError):
        conn.terminate()
    await database.session_pool.release(conn)
