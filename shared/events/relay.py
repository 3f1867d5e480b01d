"""Moves outbox rows to the bus: at least once, in order per aggregate, one active relay per service."""

import asyncio
import contextlib
from collections import defaultdict
from typing import Any

import asyncpg
import msgspec
import structlog

from shared.background import Wakeup
from shared.db.connection_pool import is_closed
from shared.db.database import Database
from shared.events.bus import Bus, BusError, Message
from shared.events.envelope import read_head
from shared.observability.metrics import OUTBOX_AGE, PUBLISHED
from shared.observability.tracing import in_span, trace_id_of

log = structlog.get_logger("relay")

# How many rows are under way at once. It bounds memory however long the broker was away.
BATCH = 256
# Longer than the bus's own patience: this only ends a publish that would wait for ever.
PATIENCE = 30.0

TAKE_TURN = "SELECT pg_try_advisory_lock(hashtextextended('outbox:' || current_schema(), 0))"
WAITING = """
SELECT id, event_id, type, aggregate, envelope, traceparent,
       extract(epoch FROM clock_timestamp() - created_at)::float8 AS age
FROM outbox ORDER BY id LIMIT $1
"""
# By explicit id: ids are not commit-ordered, so `id <= last` would take rows that were never published.
REMOVE = "DELETE FROM outbox WHERE id = ANY($1::bigint[])"
WAKE_THE_OTHER = "SELECT pg_notify('outbox:' || current_schema(), '')"


class Relay:
    """`step` is run by a loop. However many replicas run, the one that holds the advisory lock publishes.

    The lock lives on the connection that also reads and removes the rows: a relay that lost its connection
    lost its turn with it, and can remove nothing any more. The others pass their wakeup on to it.
    """

    def __init__(self, database: Database, bus: Bus, wakeup: Wakeup, *, batch: int = BATCH) -> None:
        self.database = database
        self.bus = bus
        self.wakeup = wakeup
        self.batch = batch
        self.service = ""
        self._conn: Any = None

    @property
    def active(self) -> bool:
        return self._conn is not None and not is_closed(self._conn)

    async def step(self) -> bool:
        """Publishes what waits; True when there is more. Raises when something could not be published."""
        if not self.active and not await self._take_turn():
            return False
        try:
            rows = await self._conn.fetch(WAITING, self.batch)
            OUTBOX_AGE.labels(self.service).set(rows[0]["age"] if rows else 0.0)
            if not rows:
                return False
            done, failure = await publish_in_order(self.bus, rows)
            if done:
                await self._conn.execute(REMOVE, done)
                PUBLISHED.labels(self.service).inc(len(done))
        except BaseException:
            # Whatever it was, the connection may be amid something: the next step takes a new one.
            await self.stop()
            raise
        if failure is not None:
            raise failure
        return True

    async def stop(self) -> None:
        """Gives the turn up, so that another replica goes on at once."""
        conn, self._conn = self._conn, None
        if conn is not None:
            # Another replica tells the age from now on.
            OUTBOX_AGE.labels(self.service).set(0)
            await _end(self.database, conn)

    async def _take_turn(self) -> bool:
        await self.stop()
        conn = await self.database.pool.acquire(timeout=5)
        try:
            if await conn.fetchval(TAKE_TURN):
                self.service = await conn.fetchval("SELECT current_schema()")
                await conn.add_listener(f"outbox:{self.service}", lambda *_: self.wakeup.notify())
                self._conn = conn
                log.info("relay_active", service=self.service)
                return True
            await conn.execute(WAKE_THE_OTHER)
        except BaseException:
            await _end(self.database, conn)
            raise
        await self.database.pool.release(conn)
        return False


async def _end(database: Database, conn: Any) -> None:
    """Unlocked where that still works; else the lock goes when the server sees the session's end."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(1):
            await conn.execute("SELECT pg_advisory_unlock_all()")
    with contextlib.suppress(asyncpg.InterfaceError):
        conn.terminate()
    await database.pool.release(conn)


async def publish_in_order(bus: Bus, rows: list[Any]) -> tuple[list[int], Exception | None]:
    """The ids that were confirmed, and the first failure.

    Many confirms are outstanding at once, but only one per aggregate: its next row waits for the confirm, and
    after a failure stays behind, so that nothing overtakes.
    """
    lines: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        lines[row["aggregate"]].append(row)
    results = await asyncio.gather(*(_publish_line(bus, line) for line in lines.values()))
    done = [row_id for confirmed, _ in results for row_id in confirmed]
    return done, next((failure for _, failure in results if failure is not None), None)


async def _publish_line(bus: Bus, line: list[Any]) -> tuple[list[int], Exception | None]:
    confirmed: list[int] = []
    for row in line:
        try:
            with in_span(f"publish {row['type']}", row["traceparent"], "producer") as traceparent:
                message = Message(row["event_id"], row["type"], row["envelope"], traceparent)
                async with asyncio.timeout(PATIENCE):
                    await bus.publish(message)
        except (BusError, TimeoutError) as failure:
            return confirmed, failure
        confirmed.append(row["id"])
        _log_published(message)
    return confirmed, None


def _log_published(message: Message) -> None:
    """An envelope that cannot be read is the consumer's to park; a line about it must not stop the rest."""
    try:
        head = read_head(message.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        head = None
    log.info(
        "event_published",
        request_id=head.request_id if head else None,
        trace_id=trace_id_of(message.traceparent),
        studio_id=head.studio_id if head else None,
        event_id=message.id,
        type=message.topic,
    )
