"""When a consumer returns a batch that it cannot settle, so that another replica can handle it.

A replica may lose only its database: the broker still considers it healthy and would leave its messages with
it. Handling is idempotent, so it does no harm if the batch is settled after all.
"""

import asyncio
import time
from collections.abc import Callable, Iterable

from aio_pika.abc import AbstractIncomingMessage

from shared.events.bus.declarations import DELIVERY_LIMIT
from shared.events.bus.inbox import ConsumerLost, Taken

CHECK_SECONDS = 0.5
# A queue that moves to another replica while a batch of it is being handled: usually that takes milliseconds.
GRACE_SECONDS = 2.0
# A queue without leases. Other replicas may be waiting for it, or none.
FIRST_HOLD_SECONDS = 10.0
LONGEST_HOLD_SECONDS = 3600.0
RETURNED_PAUSE_SECONDS = 1.0
# Each return is a delivery. Some are left for replicas that die, since the broker parks a message after
# DELIVERY_LIMIT of them.
KEPT_FOR_CRASHES = 5


class BatchReturned(ConsumerLost):
    """The connection has to be closed, which returns its messages to their queues."""


def hold_seconds(deliveries: int) -> float:
    """How long to hold a batch whose messages have been delivered that often before."""
    if deliveries >= DELIVERY_LIMIT - KEPT_FOR_CRASHES:
        return float("inf")
    return min(FIRST_HOLD_SECONDS * (1 << deliveries), LONGEST_HOLD_SECONDS)


def earlier_deliveries(messages: Iterable[AbstractIncomingMessage]) -> int:
    """Of the message that was delivered most often, counted by the broker."""
    counts = (message.headers.get("x-delivery-count") for message in messages)
    return max((count for count in counts if isinstance(count, int)), default=0)


class HeldBatch:
    """A batch that is being handled. Made for each batch, so everything else is computed only if it lasts."""

    __slots__ = ("began", "ours", "taken")

    def __init__(self, taken: Taken) -> None:
        self.taken = taken
        self.began = self.ours = time.monotonic()

    def check(self, wanted: frozenset[str], *, has_leases: bool) -> None:
        """Raises BatchReturned if another replica should get the messages. `wanted`: this one's queues.

        Partitions follow their leases. Other queues have none, so the replicas have their turns.
        """
        now = time.monotonic()
        if all(subscription.name in wanted for subscription, _ in self.taken):
            self.ours = now
        if now - self.ours > GRACE_SECONDS:
            raise BatchReturned("a batch was returned: its queue belongs to another replica now")
        if has_leases:
            return
        messages = (message for _, arrived in self.taken for message, _ in arrived)
        if now - self.began > hold_seconds(earlier_deliveries(messages)):
            raise BatchReturned(
                f"a batch was returned after {now - self.began:.0f} s: another replica may succeed"
            )


async def supervise(consuming: "asyncio.Task[None]", check: Callable[[], None]) -> None:
    """Returns or raises as the task does, or raises what `check` raises. Then the task goes on."""
    while True:
        done, _ = await asyncio.wait((consuming,), timeout=CHECK_SECONDS)
        if done:
            return consuming.result()
        check()


async def let_others_take_it() -> None:
    """After a return, before this replica subscribes again."""
    await asyncio.sleep(RETURNED_PAUSE_SECONDS)
