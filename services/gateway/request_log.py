"""Buffers requests for the request log: a bounded queue in memory, written in batches once a second.

The hot path appends one tuple. If requests arrive faster than the write limit, successful ones are dropped
before refused ones, and every dropped one is counted.
"""

import asyncio
import os
import re
from collections import deque
from contextlib import suppress
from typing import Final, TypeAlias

from services.gateway.store import key_usage, requests
from shared.db.database import Database
from shared.http.caller import Caller
from shared.observability.metrics import REQUEST_LOG_LEFT_OUT

# Rows written per second. A row costs the gateway a few µs of CPU, and the database somewhat more.
BATCH: Final = 1_000
INTERVAL_SECONDS: Final = 1.0
MAX_REFUSED: Final = 5_000
DELETE_BATCH: Final = 5_000
LAST_SECONDS: Final = 2.0

# Time, caller, method, route, status, error code, seconds, request id.
Row: TypeAlias = tuple[float, Caller, str, str | None, int, str | None, float, str]
_STATUS: Final = 4


class RequestLog:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._good: deque[Row] = deque()
        self._refused: deque[Row] = deque()
        self._unwritten: list[Row] = []
        self._left_out = 0

    def add(self, row: Row) -> None:
        refused = row[_STATUS] >= 400
        queue = self._refused if refused else self._good
        if len(queue) < (MAX_REFUSED if refused else BATCH):
            queue.append(row)
        else:
            # Updating the metric would cost as much as all of this, so it is updated once per batch.
            self._left_out += 1

    async def write(self) -> bool:
        """One step of the loop. A batch that could not be written is retried."""
        left_out, self._left_out = self._left_out, 0
        REQUEST_LOG_LEFT_OUT.inc(left_out)
        rows = self._unwritten or self._next_batch()
        if rows:
            self._unwritten = rows
            async with self._db.connection() as conn:
                await requests.add(conn, _values(rows))
            self._unwritten = []
        return False

    async def write_last(self) -> None:
        """On shutdown: writes what is queued, if the database answers at once."""
        with suppress(Exception):
            async with asyncio.timeout(LAST_SECONDS):
                await self.write()

    async def delete_old(self) -> bool:
        async with self._db.connection() as conn:
            deleted = await requests.delete_old(conn, DELETE_BATCH)
            return max(deleted, await key_usage.delete_old(conn, DELETE_BATCH)) == DELETE_BATCH

    def _next_batch(self) -> list[Row]:
        batch: list[Row] = []
        for queue in (self._refused, self._good):
            while queue and len(batch) < BATCH:
                batch.append(queue.popleft())
        return batch


def _values(rows: list[Row]) -> list[tuple[object, ...]]:
    random = os.urandom(8 * len(rows)).hex()
    return [
        (
            caller.studio_id,
            caller.client_id,
            caller.key_id,
            _id_at(at, random[16 * number : 16 * number + 16]),
            request_id,
            at,
            method[:20],
            route,
            status,
            code,
            round(seconds * 1000, 2),
        )
        for number, (at, caller, method, route, status, code, seconds, request_id) in enumerate(rows)
    ]


def _id_at(seconds: float, random: str) -> str:
    """A version 7 UUID: ordered by time, with microseconds, otherwise random."""
    milliseconds, micros = divmod(int(seconds * 1_000_000), 1000)
    digits = f"{milliseconds:012x}"
    return f"{digits[:8]}-{digits[8:]}-7{micros * 4:03x}-8{random[1:4]}-{random[4:]}"


_CODE: Final = re.compile(rb'"error":\{"type":"[a-z_]*","code":"([a-z_]{1,100})"')


def error_code_in(body: bytes) -> str | None:
    """An error answer's code, found without decoding. Quotes in values are escaped, so it cannot be faked."""
    found = _CODE.search(body)
    return found[1].decode() if found else None
