"""A broker outage: bookings continue, the outbox grows and then drains, memory stays flat."""

import asyncio
import time

from msgspec import Struct

from tests.harness.bookable_studio import bookable
from tests.harness.pipeline import Pipeline
from tests.harness.receiver import Receiver

AT_ONCE = 16


class OutageReport(Struct):
    bookings: int = 0
    refused: int = 0
    outbox_at_its_longest: int = 0
    outbox_at_the_end: int = 0
    delivered: int = 0
    memory_before: float = 0.0
    memory_after: float = 0.0
    memory_drained: float = 0.0
    drained_in: float = 0.0

    def text(self) -> str:
        return (
            f"broker away: {self.bookings:,} bookings made, {self.refused} refused; "
            f"outbox {self.outbox_at_its_longest:,} rows, "
            f"{self.outbox_at_the_end} after {self.drained_in:.1f} s; "
            f"{self.delivered:,} delivered; memory of the bookings process "
            f"{self.memory_before:.0f} → {self.memory_after:.0f} → {self.memory_drained:.0f} MB"
        )


async def run_outage(
    pipeline: Pipeline, receiver: Receiver, *, bookings: int, before: int = 200
) -> OutageReport:
    """`before`: bookings that warm the services up, so that their memory can be compared."""
    report = OutageReport()
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
            report.refused += reply.status != 201

    async def book_all(numbers: range) -> None:
        await asyncio.gather(
            *(book(numbers[place::AT_ONCE], class_id) for place, class_id in enumerate(studio.class_ids))
        )

    await book_all(range(before))
    await receiver.until_count(before, seconds=60)
    report.memory_before = pipeline.memory_mb("bookings")
    await pipeline.kill_broker()
    await book_all(range(before, bookings + before))
    report.bookings = bookings + before
    report.memory_after = pipeline.memory_mb("bookings")
    report.outbox_at_its_longest = await pipeline.in_outbox()
    await pipeline.revive_broker()
    started = time.monotonic()
    await receiver.until_count(bookings + before, seconds=600)
    report.outbox_at_the_end = await pipeline.left_in_outbox()
    report.drained_in = time.monotonic() - started
    report.delivered = receiver.count
    report.memory_drained = pipeline.memory_mb("bookings")
    return report
