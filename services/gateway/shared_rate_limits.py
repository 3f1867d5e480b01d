"""Rate limits that all gateways share, in Valkey or Redis. Without it each gateway counts for itself.

A gateway reserves a client's tokens in batches: one round trip for many requests, and none for a client
that is over its limit.
"""

import asyncio
import time
from typing import Any, Final

import structlog

from services.gateway.rules.rate_limit import ClientLimits, ReservedBucket, TokenBucket

log = structlog.get_logger("limits")

# The longest that a request waits for tokens, and the pause after a failure.
TIMEOUT_SECONDS: Final = 0.1
AWAY_SECONDS: Final = 1.0
# By the store's own clock, so that gateways whose clocks differ agree. Returns the granted and the remaining.
RESERVE: Final = """
local rate, burst, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local passed = math.max(0, now - (tonumber(kept[2]) or now))
local tokens = math.min(burst, (tonumber(kept[1]) or burst) + passed * rate)
local granted = math.min(wanted, math.floor(tokens))
tokens = tokens - granted
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate * 1000) + 1000)
return {granted, tostring(tokens)}
"""


class SharedLimits:
    """`of` returns a bucket of reserved tokens, or this gateway's own while the store is unavailable."""

    def __init__(self, url: str) -> None:
        # Imported here: a gateway without a store does not need the client.
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        self._client: Any = Redis.from_url(
            url.replace("valkey://", "redis://", 1).replace("valkeys://", "rediss://", 1),
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            # Retried once over a new connection: the pooled one may be from before a restart.
            retry=Retry(NoBackoff(), 1),
        )
        self._reserve = self._client.register_script(RESERVE)
        self._local = ClientLimits()
        self._reserved: dict[str, ReservedBucket] = {}
        self._away_until = 0.0
        self._requests: dict[str, asyncio.Task[None]] = {}

    def of(self, client_id: str, rate: float, burst: int, now: float) -> TokenBucket | ReservedBucket:
        if now < self._away_until:
            return self._local.of(client_id, rate, burst, now)
        bucket = self._reserved.get(client_id)
        if bucket is None:
            bucket = self._reserved[client_id] = ReservedBucket(client_id, rate, burst)
        bucket.rate, bucket.burst = rate, burst
        return bucket

    async def take_more(self, bucket: TokenBucket | ReservedBucket, cost: int) -> bool:
        """For a bucket that has too little reserved. Requests that arrive meanwhile share one round trip."""
        if not isinstance(bucket, ReservedBucket) or bucket.is_known_empty(time.monotonic(), cost):
            return False
        waiting = min(cost, bucket.burst)
        bucket.waiting += waiting
        try:
            request = self._requests.get(bucket.client_id)
            if request is None:
                request = asyncio.create_task(self._request(bucket), name="token reservation")
                self._requests[bucket.client_id] = request
            # Others wait for the same answer, so a cancelled request must not cancel it.
            await asyncio.shield(request)
        finally:
            bucket.waiting -= waiting
        now = time.monotonic()
        if now < self._away_until:
            return self._local.of(bucket.client_id, bucket.rate, bucket.burst, now).take(now, cost)
        return bucket.take(now, cost)

    async def _request(self, bucket: ReservedBucket) -> None:
        # Includes requests that start to wait in this iteration of the event loop.
        await asyncio.sleep(0)
        wanted = bucket.waiting + bucket.batch
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                granted, left = await self._reserve(
                    keys=[f"studio:limit:{bucket.client_id}"], args=[bucket.rate, bucket.burst, wanted]
                )
        except Exception as problem:
            self._away_until = time.monotonic() + AWAY_SECONDS
            log.warning("shared_limits_away", error=type(problem).__name__)
        else:
            bucket.granted(int(granted), float(left), time.monotonic())
        finally:
            del self._requests[bucket.client_id]

    async def close(self) -> None:
        for request in list(self._requests.values()):
            request.cancel()
        await self._client.aclose()
