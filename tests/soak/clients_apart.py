"""Clients in a process of their own, so that what they do is not measured as slowness of somebody else.

python -m tests.soak.clients_apart: reads its `Work` from the first line, works until its input ends, and
writes what it has seen. Times are of the machine's monotonic clock, which all processes share.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import msgspec
from msgspec import Struct

from tests.harness.eventually import in_background
from tests.harness.http import Client


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


async def follow(one: Client, seen: Seen) -> None:
    after = 0
    while True:
        page = (await one.get("/events", after_sequence=after, wait=25)).json()
        now = time.perf_counter()
        seen.events += [(event["data"]["object"].get("email", ""), now) for event in page["data"]]
        after = page["data"][-1]["sequence"] if page["has_more"] else page["latest_sequence"]


async def read_the_studio(client: Client, seen: Seen) -> None:
    while True:
        began = time.perf_counter()
        assert (await client.get("/studio")).status == 200
        seen.seconds.append(time.perf_counter() - began)
        await asyncio.sleep(0.05)


@asynccontextmanager
async def clients_of(work: Work) -> AsyncIterator[list[Client]]:
    async with AsyncExitStack() as stack:
        sessions = [
            await stack.enter_async_context(
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(limit=0, local_addr=(address, 0)),
                    timeout=aiohttp.ClientTimeout(total=60),
                )
            )
            for address in work.addresses
        ]
        yield [
            Client(sessions[number % len(sessions)], work.url, {"X-Service-Key": key})
            for number, key in enumerate(work.keys)
        ]


async def run() -> None:
    work = msgspec.json.decode(sys.stdin.buffer.readline(), type=Work)
    seen = Seen()
    async with clients_of(work) as clients:
        jobs = [follow(one, seen) for one in clients for _ in range(work.each)]
        async with in_background(*(jobs or [read_the_studio(clients[0], seen)])):
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
    asyncio.run(run())
