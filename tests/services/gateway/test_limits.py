"""Rate limits: a token bucket per client, and another one for guessers."""

from services.gateway.rules.rate_limit import ClientLimits, FailedKeyLimits, TokenBucket
from tests.harness.system import System


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    """Burst 3, two a second: three at once, then one every half second, never more than the burst."""
    bucket = TokenBucket(rate=2.0, burst=3, tokens=3.0, at=0.0)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert bucket.retry_after() == 1
    assert bucket.take(0.5)
    assert not bucket.take(0.5)
    assert [bucket.take(1000.0) for _ in range(4)] == [True, True, True, False]


def test_a_changed_rate_does_not_refill_the_bucket() -> None:
    """Setting a rate does not grant a new burst."""
    limits = ClientLimits()
    limits.of("c", 1.0, 2, 0.0).take(0.0)
    changed = limits.of("c", 5.0, 9, 0.0)
    assert (changed.rate, changed.burst, changed.tokens) == (5.0, 9, 1.0)


def test_refused_keys_are_limited_by_address() -> None:
    """An address that guesses does not use up another address's limit."""
    refused = FailedKeyLimits()
    assert [refused.take("a", 0.0) for _ in range(FailedKeyLimits.BURST)] == [None] * FailedKeyLimits.BURST
    assert refused.take("a", 0.0) == 1
    assert refused.take("b", 0.0) is None


async def test_a_client_over_its_limit_gets_429_with_retry_after(system: System) -> None:
    """Two keys of one client share its bucket; every authenticated answer shows the limit."""
    first = await system.issue(client="Busy")
    second = await system.issue(client="Busy")
    answer = await system.operator.patch(f"/clients/{first['client_id']}", {"rate": 0.1, "burst": 3})
    assert answer.json()["burst"] == 3
    answers = [await system.partner(key["key"]).get("/key") for key in (first, second, first)]
    assert [one.status for one in answers] == [200, 200, 200]
    assert [one.headers["RateLimit-Remaining"] for one in answers] == ["2", "1", "0"]
    assert answers[0].headers["RateLimit-Limit"] == "3"
    assert int(answers[2].headers["RateLimit-Reset"]) > 20
    refused = await system.partner(second["key"]).get("/unknown")
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert 1 <= int(refused.headers["Retry-After"]) <= 10
    assert refused.headers["RateLimit-Remaining"] == "0"
