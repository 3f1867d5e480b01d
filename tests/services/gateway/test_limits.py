"""Rate limits: a token bucket per client, another one for guessers, and one that gateways share in Valkey."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from redis.asyncio import Redis

from services.gateway.rules.rate_limit import (
    MAX_LARGE_BODIES,
    ClientLimits,
    LargeBodies,
    Spacing,
    TokenBucket,
    cost_of,
)
from services.gateway.shared_rate_limits import AWAY_SECONDS, SharedLimits
from shared.errors import RateLimited
from shared.wire import new_id
from tests.harness.pgbouncer import Valkey, running_valkey
from tests.harness.raw_http import connect
from tests.harness.system import System

LARGE = b'{"email":"a@example.com","unknown":[%s]}' % b",".join([b"1"] * 120_000)


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    """Burst 3, two a second: three at once, then one every half second, never more than the burst."""
    bucket = TokenBucket(rate=2.0, burst=3, tokens=3.0, at=0.0)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert bucket.retry_after() == 1
    assert bucket.take(0.5)
    assert not bucket.take(0.5)
    assert [bucket.take(1000.0) for _ in range(4)] == [True, True, True, False]


def test_a_body_costs_by_its_size_and_never_more_than_the_bucket_holds() -> None:
    """One token, and one more for each 4 KiB. A client with a small bucket can still send a large body."""
    assert [cost_of(size) for size in (0, 4095, 4096, 240 * 1024)] == [1, 1, 2, 61]
    bucket = TokenBucket(rate=2.0, burst=100, tokens=100.0, at=0.0)
    assert [bucket.take(0.0, 61) for _ in range(2)] == [True, False]
    assert (bucket.tokens, bucket.retry_after(61)) == (39.0, 11)
    assert bucket.take(0.0, 39)
    small = TokenBucket(rate=2.0, burst=3, tokens=3.0, at=0.0)
    assert [small.take(0.0, 61) for _ in range(2)] == [True, False]
    assert small.retry_after(61) == 2


def test_a_client_has_a_few_large_bodies_in_flight() -> None:
    """The next one is refused until one of them is done; other clients have their own."""
    bodies = LargeBodies()
    for _ in range(MAX_LARGE_BODIES):
        bodies.begin("a")
    bodies.begin("b")
    with pytest.raises(RateLimited):
        bodies.begin("a")
    bodies.end("a")
    bodies.begin("a")


def test_a_changed_rate_does_not_refill_the_bucket() -> None:
    """Setting a rate does not grant a new burst."""
    limits = ClientLimits()
    limits.of("c", 1.0, 2, 0.0).take(0.0)
    changed = limits.of("c", 5.0, 9, 0.0)
    assert (changed.rate, changed.burst, changed.tokens) == (5.0, 9, 1.0)


async def test_a_client_over_its_limit_gets_429_with_retry_after(system: System) -> None:
    """Two keys of one client share its bucket; every authenticated answer shows the limit."""
    first = await system.issue(client="Busy")
    second = await system.issue(client="Busy")
    await system.limit(first, rate=0.1, burst=3)
    responses = [await system.partner(key["key"]).get("/key") for key in (first, second, first)]
    assert [one.status for one in responses] == [200, 200, 200]
    assert [one.headers["RateLimit-Remaining"] for one in responses] == ["2", "1", "0"]
    assert responses[0].headers["RateLimit-Limit"] == "3"
    assert int(responses[2].headers["RateLimit-Reset"]) > 20
    refused = await system.partner(second["key"]).get("/unknown")
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert 1 <= int(refused.headers["Retry-After"]) <= 10
    assert refused.headers["RateLimit-Remaining"] == "0"


async def test_large_bodies_use_up_the_limit(system: System) -> None:
    """Of 240 KB a client may send three at once, and then less than one a second. The headers say it."""
    issued = await system.issue(client="Large")
    await system.limit(issued, rate=0.1, burst=200)
    client = system.partner(issued["key"])
    responses = [await client.post("/leads", raw=LARGE) for _ in range(5)]
    assert [one.status for one in responses][:3] == [422] * 3 and responses[-1].status == 429
    left = [int(one.headers["RateLimit-Remaining"]) for one in responses]
    cost = cost_of(len(LARGE))
    assert left[0] - left[1] in (cost - 1, cost) and left[-1] in (200 - 3 * cost, 201 - 3 * cost)
    assert int(responses[-1].headers["Retry-After"]) > 10
    assert (await client.get("/key")).status == 200, "there are tokens for small requests"


async def test_a_large_body_of_unknown_length_costs_the_same(system: System) -> None:
    """It is charged once it has been read."""
    issued = await system.issue(client="Chunked")
    await system.limit(issued, rate=0.1, burst=200)
    head = f"POST /partner/v1/leads HTTP/1.1\r\nHost: t\r\nX-Service-Key: {issued['key']}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    responses = []
    for _ in range(5):
        connection = await connect(system.running.partner_url)
        await connection.write(head.encode() + b"%x\r\n%s\r\n0\r\n\r\n" % (len(LARGE), LARGE))
        responses.append((await connection.response()).split(b"\r\n")[0])
    assert responses[0] == b"HTTP/1.1 422 Unprocessable Entity"
    assert b"429" in responses[-1]


async def test_a_client_cannot_have_many_large_bodies_handled_at_once(system: System) -> None:
    """Whatever its rate: one after the other blocks its service for others. The rest get 429 for a second."""
    issued = await system.issue(client="Many")
    await system.limit(issued)
    client = system.partner(issued["key"])
    responses = await asyncio.gather(*(client.post("/leads", raw=LARGE) for _ in range(16)))
    refused = [one for one in responses if one.status == 429]
    assert 0 < len(refused) < 16
    assert {one.status for one in responses} == {422, 429}
    assert {one.headers["Retry-After"] for one in refused} == {"1"}
    assert min(int(one.headers["RateLimit-Remaining"]) for one in refused) > 0


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


def test_callers_are_spaced_and_only_so_many_wait() -> None:
    """A client with a valid key does not wait behind thousands that have none."""
    spacing = Spacing(0.5, longest=2.0)
    assert [spacing.pause(10.0) for _ in range(7)] == [0.0, 0.5, 1.0, 1.5, 2.0, 0.0, 0.0]
    assert [spacing.pause(20.0) for _ in range(2)] == [0.0, 0.5]
