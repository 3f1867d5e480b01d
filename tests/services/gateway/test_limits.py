"""Rate limits: a token bucket per client, and another one for guessers.

`test_two_processes.py` has the one that gateways share in Valkey.
"""

import asyncio

from services.gateway.rules.rate_limit import (
    LARGE_BODY,
    MAX_LARGE_BODIES,
    ClientLimits,
    Spacing,
    TokenBucket,
    cost_of,
)
from shared.db.database import service_url
from tests.harness.databases import connected
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


def test_a_client_with_a_small_bucket_can_still_send_a_large_body() -> None:
    """A body costs one token, and one more for each 4 KiB, but never more than the bucket holds."""
    assert [cost_of(size) for size in (0, 4095, 4096, 240 * 1024)] == [1, 1, 2, 61]
    small = TokenBucket(rate=2.0, burst=3, tokens=3.0, at=0.0)
    assert [small.take(0.0, 61) for _ in range(2)] == [True, False]
    assert small.retry_after(61) == 2


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


async def test_a_client_has_a_few_large_bodies_in_flight(system: System) -> None:
    """Whatever its rate: each blocks its service for others. The next one gets 429 for a second."""
    issued = await system.issue(client="Many")
    await system.limit(issued)
    client, other = system.partner(issued["key"]), system.partner(await system.key(client="Other"))
    bodies = [b'{"email":"%d@example.com"}' % n + b" " * LARGE_BODY for n in range(MAX_LARGE_BODIES + 1)]
    url = service_url(system.running.database_url("forms"), "forms")
    async with connected(url) as conn, conn.transaction():
        await conn.execute("LOCK TABLE forms.leads")
        sent = [asyncio.create_task(client.post("/leads", raw=body)) for body in bodies]
        (first,), handled = await asyncio.wait(sent, return_when=asyncio.FIRST_COMPLETED)
        refused = first.result()
        assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
        assert int(refused.headers["RateLimit-Remaining"]) > 0
        assert (await other.post("/leads", raw=LARGE)).status == 422
    assert {(await one).status for one in handled} == {201}
    assert (await client.post("/leads", raw=LARGE)).status == 422


def test_callers_are_spaced_and_only_so_many_wait() -> None:
    """A client with a valid key does not wait behind thousands that have none."""
    spacing = Spacing(0.5, longest=2.0)
    assert [spacing.pause(10.0) for _ in range(7)] == [0.0, 0.5, 1.0, 1.5, 2.0, 0.0, 0.0]
    assert [spacing.pause(20.0) for _ in range(2)] == [0.0, 0.5]
