"""Clients in a process of their own, so that what they do is not measured as slowness of somebody else.

They speak just as much HTTP as they need: an HTTP library would cost more CPU time than what is measured.

python -m tests.soak.clients_apart: reads its `Work` from the first line, works until its input ends, and
writes what it has seen. Times are of the machine's monotonic clock, which all processes share.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec
import uvloop
from msgspec import Struct

from tests.harness.eventually import in_background


class Work(Struct):
    """`each` followers for every key; or, with none, one reader of `/studio` with the first key."""

    url: str
    keys: list[str]
    addresses: list[str]
    each: int = 0


class Seen(Struct):
    """When an event of a lead was here, by the lead's address; and how long other requests took."""

    events: list[tuple[str, float]] = []
    seconds: list[float] = []


class Connection:
    """GETs with one key on a connection from one address."""

    def __init__(self, work: Work, number: int) -> None:
        self._url = urlsplit(work.url)
        self._from = work.addresses[number % len(work.addresses)]
        self._key = work.keys[number]

    async def get(self, path: str) -> bytes:
        if not hasattr(self, "_writer"):
            self._reader, self._writer = await asyncio.open_connection(
                self._url.hostname, self._url.port, local_addr=(self._from, 0)
            )
        head = (
            f"GET {self._url.path}{path} HTTP/1.1\r\nhost: {self._url.netloc}\r\nx-service-key: {self._key}"
        )
        self._writer.write(f"{head}\r\n\r\n".encode())
        status, *headers = (await self._reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        assert status.startswith(b"http/1.1 200"), status
        [length] = [int(line.split(b":")[1]) for line in headers if line.startswith(b"content-length:")]
        return await self._reader.readexactly(length)


class Event(Struct):
    sequence: int
    data: dict[str, dict[str, Any]]


class Page(Struct):
    data: list[Event]
    has_more: bool
    latest_sequence: int


_page = msgspec.json.Decoder(Page)


async def follow(one: Connection, seen: Seen) -> None:
    after = 0
    while True:
        page = _page.decode(await one.get(f"/events?after_sequence={after}&wait=25"))
        now = time.perf_counter()
        seen.events += [(event.data["object"].get("email", ""), now) for event in page.data]
        after = page.data[-1].sequence if page.has_more else page.latest_sequence


async def read_the_studio(one: Connection, seen: Seen) -> None:
    while True:
        began = time.perf_counter()
        await one.get("/studio")
        seen.seconds.append(time.perf_counter() - began)
        await asyncio.sleep(0.05)


async def run() -> None:
    work = msgspec.json.decode(sys.stdin.buffer.readline(), type=Work)
    seen = Seen()
    if work.each:
        # Real followers use no processor of ours.
        os.nice(10)
    jobs = [
        follow(Connection(work, number), seen) for number in range(len(work.keys)) for _ in range(work.each)
    ]
    async with in_background(*(jobs or [read_the_studio(Connection(work, 0), seen)])):
        await asyncio.to_thread(sys.stdin.buffer.read)
    sys.stdout.buffer.write(msgspec.json.encode(seen))


@asynccontextmanager
async def clients_apart(works: Sequence[Work]) -> AsyncIterator[Seen]:
    """What they all have seen, filled in when the block has ended."""
    combined = Seen()
    running = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", __spec__.name, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        for _ in works
    ]
    try:
        for child, work in zip(running, works, strict=True):
            assert child.stdin is not None
            child.stdin.write(msgspec.json.encode(work) + b"\n")
        yield combined
        # With an input, even an empty one, their own ends.
        for output, _ in await asyncio.gather(*(child.communicate(b"") for child in running)):
            seen = msgspec.json.decode(output, type=Seen)
            combined.events += seen.events
            combined.seconds += seen.seconds
    finally:
        for child in running:
            if child.returncode is None:
                child.kill()
                await child.wait()


if __name__ == "__main__":
    uvloop.run(run())
