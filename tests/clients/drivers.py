"""All clients behind one protocol of lines, so that one test drives them all.

A driver is a program that makes a client from STUDIO_URL (ends in /partner/v1), STUDIO_KEY, and if they are
set STUDIO_TIMEOUT (seconds) and STUDIO_RETRIES. It reads lines of JSON until its input ends, runs the calls
at the same time, and writes one line for each, in any order.

    in   {"id": 1, "call": "create_booking", "path": [], "fields": {"class_id": "…", "member_id": "…"}}
    out  {"id": 1, "result": {"id": "…", "object": "booking", …}}
    out  {"id": 1, "error": {"class": "ClassFullError", "code": "class_full", "status": 409, …}}

`call` is an operation (`create_booking`), an iterator (`iter_bookings`, whose result is a list), or
`follow`, with the fields `after_sequence` and `count`, whose result is that many events. `path` are the ids
of the path, in its order. `fields` have their wire names; `idempotency_key` is one of them. A result is
what the client gave, as JSON with wire names, null for nothing; a kind of event that it does not know is
what its `raw` is, with `"unknown": true` added. An error has its class and its attributes.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from tests.harness.process import ROOT

Json = dict[str, Any]
PYTHON = [sys.executable, "-m", "tests.clients.python.driver"]
PYTHON_SOURCE = ROOT / "clients/python/src"
LONGEST_LINE = 1 << 24


class Refused(Exception):
    """The client raised. `error` is what its driver told of it."""

    def __init__(self, error: Json) -> None:
        super().__init__(str(error))
        self.error = error


class Driver:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._reading = asyncio.create_task(self._read())
        self._last = 0

    async def call(self, name: str, *path: str, **fields: Any) -> Any:
        """The result, or Refused."""
        self._last += 1
        number, answer = self._last, asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        line = {"id": number, "call": name, "path": path, "fields": fields}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line).encode() + b"\n")
        told = await answer
        if "error" in told:
            raise Refused(told["error"])
        return told["result"]

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            told = json.loads(line)
            self._waiting.pop(told["id"]).set_result(told)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(EOFError("The driver has ended."))

    async def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._reading


@asynccontextmanager
async def driving(
    words: Sequence[str], url: str, key: str, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Driver]:
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=with_source() | {"STUDIO_URL": url, "STUDIO_KEY": key} | dict(environment or {}),
        cwd=ROOT,
        limit=LONGEST_LINE,
    )
    driver = Driver(process)
    try:
        yield driver
    finally:
        await driver.close()


def with_source() -> dict[str, str]:
    """An environment in which Python finds the client of this checkout."""
    return os.environ | {"PYTHONPATH": f"{PYTHON_SOURCE}:{os.environ.get('PYTHONPATH', '')}"}


def start_follower(*arguments: str) -> "subprocess.Popen[str]":
    """The program of test_following.py, with the Python client."""
    words, pipe = [sys.executable, "-m", "tests.clients.python.follower", *arguments], subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=with_source(), cwd=ROOT)
