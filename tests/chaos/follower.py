"""Follows the event log with `wait`. It is killed at random, and goes on after what it has stored."""

import asyncio
import random
import time
from typing import TYPE_CHECKING

import aiohttp

from tests.chaos.writers import ALLOWED_ERRORS, RETRY_SECONDS, Gateway

if TYPE_CHECKING:
    from tests.chaos.arena import Arena

# How long it is left alone before it is killed.
LIVES = (0.05, 8.0)
CAUGHT_UP_SECONDS = 30.0
LOGGED = """
SELECT id::text, sequence FROM webhooks.events WHERE studio_id = $1 AND client_id IS NULL ORDER BY sequence
"""


class Follower:
    def __init__(self, studio_id: str, gateways: list[Gateway], draw: random.Random) -> None:
        self._studio_id = studio_id
        self._gateways = gateways
        self._draw = draw
        self._after = 0
        self._last = 0
        self._seen: set[str] = set()
        self._problems: list[str] = []

    async def run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._draw.uniform(*LIVES)):
                    await self._read(self._draw.choice(self._gateways))
            except (TimeoutError, aiohttp.ClientError, OSError):
                await asyncio.sleep(RETRY_SECONDS)

    async def _read(self, gateway: Gateway) -> None:
        limit = self._draw.choice((3, 50, 200))
        client = gateway.clients[self._studio_id]
        reply = await client.get("/events", after_sequence=self._after, wait=5, limit=limit)
        if reply.status != 200:
            if reply.status not in ALLOWED_ERRORS:
                self._problems.append(f"a follower got {reply.status}: {reply.body[:200]!r}")
            await asyncio.sleep(RETRY_SECONDS)
            return
        page = reply.json()
        for event in page["data"]:
            if event["sequence"] <= self._last:
                self._problems.append(f"a follower got {event['sequence']} after {self._last}")
            self._last = event["sequence"]
            self._seen.add(event["id"])
        self._after = self._last if page["has_more"] else page["latest_sequence"]

    async def problems(self, arena: "Arena") -> list[str]:
        """What it has seen twice, in another order, or not at all."""
        logged = {row["id"]: row["sequence"] for row in await arena.rows(LOGGED, self._studio_id)}
        ends = time.monotonic() + CAUGHT_UP_SECONDS
        while logged.keys() - self._seen and time.monotonic() < ends:
            await asyncio.sleep(0.05)
        missed = sorted(logged[one] for one in logged.keys() - self._seen)
        return [*self._problems, *([f"a follower has not seen {missed[:5]}"] if missed else [])]
