"""A broker outage: bookings continue, the outbox grows and then drains."""

import asyncio
import time

from tests.harness.bookable_studio import bookable
from tests.harness.pipeline import Pipeline
from tests.harness.receiver import Receiver

AT_ONCE = 16


async def run_outage(
    pipeline: Pipeline, receiver: Receiver, *, bookings: int, before: int = 200
) -> dict[str, float]:
    """Nothing is refused, and everything is delivered afterwards. Returns the measured figures.

    `before`: bookings that warm the services up, so that their memory can be compared.
    """
    system = pipeline.system
    issued = await system.issue()
    await system.limit(issued)
    partner = system.partner(issued["key"])
    studio = bookable(classes=AT_ONCE, members=bookings + before, seats=bookings + before)
    await system.import_lines(studio.lines)
    await partner.create("/webhook-endpoints", {"url": receiver.url, "event_types": ["booking.created"]})

    async def book(numbers: range, class_id: str) -> None:
        for number in numbers:
            reply = await partner.book(class_id, studio.member_ids[number])
            assert reply.status == 201, reply.body

    async def book_all(numbers: range) -> None:
        await asyncio.gather(
            *(book(numbers[place::AT_ONCE], class_id) for place, class_id in enumerate(studio.class_ids))
        )

    await book_all(range(before))
    await receiver.until_count(before, seconds=60)
    figures = {"MB before": pipeline.memory_mb("bookings")}
    await pipeline.kill_broker()
    await book_all(range(before, bookings + before))
    figures["MB after"] = pipeline.memory_mb("bookings")
    figures["most in the outbox"] = await pipeline.in_outbox()
    assert figures["most in the outbox"] >= bookings
    await pipeline.revive_broker()
    started = time.monotonic()
    await receiver.until_count(bookings + before, seconds=600)
    assert await pipeline.left_in_outbox() == 0
    figures["seconds to drain"] = time.monotonic() - started
    figures["MB drained"] = pipeline.memory_mb("bookings")
    return figures
