"""Token buckets in memory: one per client and gateway replica, one per address for refused keys."""

import math
from collections import OrderedDict
from typing import Final

from msgspec import Struct

from shared.errors import RateLimited

# A request costs one token, and another for each of these in its body: a large body takes the services as
# long as many small requests.
BYTES_PER_TOKEN: Final = 4096
# A body of more bytes is large. Of one client so many are handled at once, because each blocks its service.
LARGE_BODY: Final = 32 * 1024
MAX_LARGE_BODIES: Final = 2


def cost_of(body_size: int) -> int:
    return 1 + body_size // BYTES_PER_TOKEN


class TokenBucket(Struct):
    """Time is an argument, so tests need no clock. A cost above `burst` counts as `burst`."""

    rate: float
    burst: int
    tokens: float
    at: float

    def take(self, now: float, cost: int = 1) -> bool:
        self.tokens = min(float(self.burst), self.tokens + (now - self.at) * self.rate)
        self.at = now
        if cost > self.burst:
            cost = self.burst
        if self.tokens < cost:
            return False
        self.tokens -= cost
        return True

    def retry_after(self, cost: int = 1) -> int:
        """Whole seconds until such a request is allowed."""
        return max(1, math.ceil((min(cost, self.burst) - self.tokens) / self.rate))

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Limit is the bucket's size, Reset the seconds until it is full again."""
        reset = math.ceil((self.burst - self.tokens) / self.rate)
        return [
            (b"ratelimit-limit", b"%d" % self.burst),
            (b"ratelimit-remaining", b"%d" % self.tokens),
            (b"ratelimit-reset", b"%d" % reset),
        ]


class ReservedBucket(Struct):
    """The tokens that this gateway has reserved out of a bucket that all gateways share.

    `left` is what the shared bucket still had at the last reservation, at the time `at`. It is unknown before
    the first one.
    """

    client_id: str
    rate: float
    burst: int
    tokens: float = 0.0
    left: float = math.inf
    at: float = 0.0
    waiting: int = 0

    @property
    def batch(self) -> int:
        """How many tokens are reserved in advance. Few, because the other gateways cannot use them."""
        return max(1, self.burst // 20)

    def take(self, now: float, cost: int = 1) -> bool:
        if cost > self.burst:
            cost = self.burst
        if self.tokens < cost:
            return False
        self.tokens -= cost
        return True

    def granted(self, tokens: int, left: float, now: float) -> None:
        self.tokens += tokens
        self.left, self.at = left, now

    def is_known_empty(self, now: float, cost: int = 1) -> bool:
        """The shared bucket cannot have enough tokens yet, so there is no need to query it."""
        return self.tokens + self.left + (now - self.at) * self.rate < min(cost, self.burst)

    def retry_after(self, cost: int = 1) -> int:
        return max(1, math.ceil((min(cost, self.burst) - self.tokens - self.left) / self.rate))

    def headers(self) -> list[tuple[bytes, bytes]]:
        tokens = min(float(self.burst), self.tokens + self.left)
        return TokenBucket(self.rate, self.burst, tokens, self.at).headers()


class ClientLimits:
    """The bucket of each client; a changed rate takes effect without refilling it."""

    def __init__(self) -> None:
        self._buckets: dict[str, TokenBucket] = {}

    def of(self, client_id: str, rate: float, burst: int, now: float) -> TokenBucket:
        bucket = self._buckets.get(client_id)
        if bucket is None:
            bucket = self._buckets[client_id] = TokenBucket(rate, burst, float(burst), now)
        elif bucket.rate != rate or bucket.burst != burst:
            bucket.rate, bucket.burst = rate, burst
        return bucket

    async def take_more(self, bucket: "TokenBucket | ReservedBucket", cost: int) -> bool:
        """There are no other tokens to get."""
        return False

    async def close(self) -> None:
        pass


class LargeBodies:
    """The large bodies of each client that a service is handling."""

    def __init__(self) -> None:
        self._in_flight: dict[str, int] = {}

    def begin(self, client_id: str) -> None:
        count = self._in_flight.get(client_id, 0)
        if count >= MAX_LARGE_BODIES:
            raise RateLimited(1)
        self._in_flight[client_id] = count + 1

    def end(self, client_id: str) -> None:
        left = self._in_flight.pop(client_id) - 1
        if left:
            self._in_flight[client_id] = left


class Spacing:
    """Gives each caller a moment of its own, so many seconds after the one before.

    While as many wait as take `longest`, nobody else does: what waits takes memory.
    """

    def __init__(self, seconds: float, *, longest: float = math.inf) -> None:
        self.seconds = seconds
        self.longest = longest
        self._last = 0.0

    def pause(self, now: float) -> float:
        moment = max(now, self._last + self.seconds)
        if moment - now > self.longest:
            return 0.0
        self._last = moment
        return moment - now


class FailedKeyLimits:
    """Allows a burst of failed keys per address, then one per second. Valid keys are never delayed."""

    RATE: Final = 1.0
    BURST: Final = 30
    ADDRESSES: Final = 10_000

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        # Thousands that come at once do not hold up valid requests. One address may have 512 connections:
        # each of them finds a moment of its own.
        self._spacing = Spacing(0.004, longest=10.0)
        self._spacings: OrderedDict[str, Spacing] = OrderedDict()

    def pause(self, address: str, now: float) -> float:
        """Seconds before a request without a valid key is refused."""
        own = self._spacings.pop(address, None) or Spacing(0.05, longest=30.0)
        self._spacings[address] = own
        if len(self._spacings) > self.ADDRESSES:
            self._spacings.popitem(last=False)
        return max(own.pause(now), self._spacing.pause(now))

    def is_exhausted(self, address: str, now: float) -> bool:
        bucket = self._buckets.get(address)
        return bucket is not None and bucket.tokens + (now - bucket.at) * bucket.rate < 1.0

    def take(self, address: str, now: float) -> int | None:
        """None if another failure is allowed, otherwise the seconds to wait."""
        bucket = self._buckets.pop(address, None) or TokenBucket(
            self.RATE, self.BURST, float(self.BURST), now
        )
        self._buckets[address] = bucket
        if len(self._buckets) > self.ADDRESSES:
            self._buckets.popitem(last=False)
        return None if bucket.take(now) else bucket.retry_after()
