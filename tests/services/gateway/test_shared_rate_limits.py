"""Rate limits that gateways share in a real Valkey or Redis: one bucket, and no refusals if it fails."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from redis.asyncio import Redis

from services.gateway.shared_rate_limits import AWAY_SECONDS, SharedLimits
from shared.wire import new_id
from tests.harness.valkey import Valkey, running_valkey

BURST = 100
# So slow that no token is refilled during a test.
RATE = 0.001


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    with running_valkey() as server:
        yield server


class Gateway:
    """Takes tokens as the partner port does. Only the test moves the clock."""

    def __init__(self, url: str) -> None:
        self.now = time.monotonic()
        self.limits = SharedLimits(url, timeout=20.0, clock=lambda: self.now)

    async def take(self, client_id: str, cost: int = 1) -> bool:
        bucket = self.limits.of(client_id, RATE, BURST, self.now)
        return bucket.take(self.now, cost) or await self.limits.take_more(bucket, cost)


async def reservations(valkey: Valkey) -> int:
    client = Redis.from_url(valkey.url.replace("valkey", "redis"))
    stats = await client.info("commandstats")
    await client.aclose()
    return int(stats.get("cmdstat_evalsha", {"calls": 0})["calls"])


async def test_a_large_body_costs_the_same_whichever_gateway_it_reaches(valkey: Valkey) -> None:
    """Three of 30 tokens each; the tokens that are left are for small requests."""
    gateways = [Gateway(valkey.url) for _ in range(2)]
    client_id = new_id()
    allowed = [await gateways[number % 2].take(client_id, 30) for number in range(8)]
    assert 2 <= sum(allowed) <= 3, "a few tokens are reserved by the other gateway"
    small = [await gateway.take(client_id) for _ in range(BURST) for gateway in gateways]
    assert 30 * sum(allowed) + sum(small) == BURST
    assert await gateways[0].take(new_id(), 10 * BURST), "no request costs more than the bucket holds"
    for gateway in gateways:
        await gateway.limits.close()


async def test_tokens_are_reserved_in_batches_and_a_refusal_asks_nobody(valkey: Valkey) -> None:
    """A round trip for each request would cost more than the request."""
    gateway, client_id = Gateway(valkey.url), new_id()
    await gateway.take(client_id)
    assert all(await asyncio.gather(*(gateway.take(client_id) for _ in range(BURST // 2))))
    assert await reservations(valkey) <= 4
    allowed = [await gateway.take(client_id) for _ in range(BURST)]
    assert sum(allowed) == BURST - BURST // 2 - 1
    before = await reservations(valkey)
    assert before <= 20
    assert not any([await gateway.take(client_id) for _ in range(BURST)])
    assert await reservations(valkey) == before
    await gateway.limits.close()


async def test_without_the_store_each_gateway_counts_for_itself_and_comes_back(valkey: Valkey) -> None:
    """Requests are answered all the time; no error reaches a partner."""
    gateway, client_id = Gateway(valkey.url), new_id()
    assert await gateway.take(client_id)
    await asyncio.to_thread(valkey.stop)
    allowed = [await gateway.take(client_id) for _ in range(3 * BURST)]
    assert BURST <= sum(allowed) <= 2 * BURST
    await asyncio.to_thread(valkey.start)
    gateway.now += AWAY_SECONDS + 0.01
    assert await gateway.take(client_id)
    assert await reservations(valkey) > 0
    await gateway.limits.close()
