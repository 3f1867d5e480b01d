"""When a consumer returns a batch that it cannot settle, so that another replica can handle it.

A replica may lose only its database: the broker still considers it healthy and would leave its messages with
it. Handling is idempotent, so it does no harm if the batch is settled after all.
"""

import asyncio
from collections.abc import Callable, Iterable

from aio_pika.abc import AbstractIncomingMessage

from shared.events.bus.declarations import DELIVERY_LIMIT
from shared.events.bus.inbox import ConsumerLost

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


async def settled_in_time(
    settling: "asyncio.Task[None]", *, hold: float, is_ours: Callable[[], bool]
) -> None:
    """Returns once the batch is settled. Raises BatchReturned if that takes too long; the task goes on."""
    loop = asyncio.get_running_loop()
    began = ours = loop.time()
    while True:
        done, _ = await asyncio.wait((settling,), timeout=CHECK_SECONDS)
        if done:
            return settling.result()
        now = loop.time()
        if is_ours():
            ours = now
        if now - ours > GRACE_SECONDS:
            raise BatchReturned("a batch was returned: its queue belongs to another replica now")
        if now - began > hold:
            raise BatchReturned(
                f"a batch was returned after {now - began:.0f} s: another replica may succeed"
            )


async def let_others_take_it() -> None:
    """After a return, before this replica subscribes again."""
    await asyncio.sleep(RETURNED_PAUSE_SECONDS)
