"""Buffers requests for the request log: a bounded queue in memory, written in batches once a second.

The hot path appends one tuple. If requests arrive faster than the write limit, successful ones are left out
before refused ones, and no client takes more than its share: one that ignores its rate limit must not push
another's requests out. What is left out is counted, also for its key.
"""

import asyncio
import os
import re
from collections import deque
from contextlib import suppress
from typing import Any, Final, TypeAlias

from services.gateway.store import requests
from services.gateway.wire.request import Source
from shared.db.database import Database
from shared.http.caller import Caller
from shared.observability.metrics import REQUEST_LOG_LEFT_OUT

# Rows written per second. A row costs the gateway a few µs of CPU, and the database somewhat more.
BATCH: Final = 1_000
INTERVAL_SECONDS: Final = 1.0
MAX_REFUSED: Final = 5_000
# Of one client in each batch. A request over the rate limit costs a client nothing, and a few tell it all.
SHARE: Final = BATCH // 2
LIMITED_SHARE: Final = 20
LAST_SECONDS: Final = 2.0

# Time, caller, method, route, status, error code, seconds, request id, source.
Row: TypeAlias = tuple[float, Caller, str, str | None, int, str | None, float, str, Source]
_CALLER: Final = 1
_STATUS: Final = 4
_REQUESTS, _ERRORS = 3, 4


class _Queue:
    def __init__(self, most: int, share: int) -> None:
        self.rows: deque[Row] = deque()
        self.of_client: dict[str, int] = {}
        self._most = most
        self._share = share

    def add(self, row: Row) -> bool:
        client_id = row[_CALLER].client_id
        count = self.of_client.get(client_id, 0)
        if count >= self._share or len(self.rows) >= self._most:
            return False
        self.of_client[client_id] = count + 1
        self.rows.append(row)
        return True


# Requests of one key that are counted but not listed: studio, client, key, requests, errors.
LeftOut: TypeAlias = list[Any]


class RequestLog:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._good = _Queue(BATCH, SHARE)
        self._limited = _Queue(BATCH, LIMITED_SHARE)
        self._refused = _Queue(MAX_REFUSED, SHARE)
        self._left_out: dict[str, LeftOut] = {}
        self._unwritten: tuple[list[Row], list[LeftOut]] = ([], [])

    def add(self, row: Row) -> None:
        status = row[_STATUS]
        queue = self._good if status < 400 else self._limited if status == 429 else self._refused
        if not queue.add(row):
            caller = row[_CALLER]
            none: LeftOut = [caller.studio_id, caller.client_id, caller.key_id, 0, 0]
            counts = self._left_out.setdefault(caller.key_id, none)
            counts[_REQUESTS] += 1
            counts[_ERRORS] += status >= 400

    async def write(self) -> bool:
        """One step of the loop. A batch that could not be written is retried."""
        if not any(self._unwritten):
            self._unwritten = self._next_batch()
        rows, left_out = self._unwritten
        if rows or left_out:
            async with self._db.connection() as conn:
                await requests.add(conn, _values(rows), left_out)
            self._unwritten = ([], [])
            REQUEST_LOG_LEFT_OUT.inc(sum(counts[_REQUESTS] for counts in left_out))
        return False

    async def write_last(self) -> None:
        """On shutdown: writes what is queued, if the database answers at once."""
        with suppress(Exception):
            async with asyncio.timeout(LAST_SECONDS):
                await self.write()

    def _next_batch(self) -> tuple[list[Row], list[LeftOut]]:
        batch: list[Row] = []
        for queue in (self._refused, self._limited, self._good):
            while queue.rows and len(batch) < BATCH:
                batch.append(queue.rows.popleft())
            queue.of_client = {}
        left_out, self._left_out = self._left_out, {}
        return batch, list(left_out.values())


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
            source,
        )
        for number, (at, caller, method, route, status, code, seconds, request_id, source) in enumerate(rows)
    ]


def _id_at(seconds: float, random: str) -> str:
    """A version 7 UUID: ordered by time, with microseconds, otherwise random."""
    milliseconds, micros = divmod(int(seconds * 1_000_000), 1000)
    digits = f"{milliseconds:012x}"
    return f"{digits[:8]}-{digits[8:]}-7{micros * 4:03x}-8{random[1:4]}-{random[4:]}"


_CODE: Final = re.compile(rb'"error":\{"type":"[a-z_]*","code":"([a-z_]{1,100})"')


def error_code_in(body: bytes) -> str | None:
    """An error response's code, found without decoding. Quotes in values are escaped: it cannot be faked."""
    found = _CODE.search(body)
    return found[1].decode() if found else None
