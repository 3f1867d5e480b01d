"""One studio has half of all events. The control: the same total rate, spread evenly over all studios."""

import asyncio
import time
from collections.abc import Sequence

import aiohttp
from msgspec import Struct

from shared.db.database import Database
from shared.events.event import Event, EventResource
from shared.events.kinds import BookingCreated
from shared.events.outbox import add_events
from shared.wire import new_id
from tests.harness.database_layout import opened_database
from tests.harness.eventually import until
from tests.harness.pipeline import Pipeline
from tests.harness.system import System
from tests.harness.tenant_fairness import Arrivals, arrivals, percentile, shown

STUDIOS = 20
TICK = 0.02
# As the bookings service does after a commit, so that its relay need not wait for the next poll.
WAKE = "SELECT pg_notify('outbox:bookings', '')"


class HotReport(Struct):
    """Seconds from commit to receipt, for the studios that are not the hot one."""

    peak: float
    hot: list[float] = []
    control: list[float] = []

    @property
    def ratio(self) -> float:
        return percentile(self.hot, 0.99) / percentile(self.control, 0.99)

    def text(self) -> str:
        peak = f"peak {self.peak:,.0f} events/s, measured at half of it; p99 ratio {self.ratio:.2f}"
        return f"{peak}\none hot studio: {shown(self.hot)}\nspread evenly: {shown(self.control)}"


class _Writer:
    """Commits events of chosen studios and knows when each one was committed."""

    def __init__(self, db: Database, noted: Arrivals, studios: Sequence[str]) -> None:
        self._db = db
        self._noted = noted
        self.studios = studios
        self.committed: dict[str, float] = {}
        self._of: dict[str, str] = {}

    async def write(self, studios: Sequence[str]) -> None:
        events = [
            Event(
                kind=BookingCreated,
                studio_id=studio,
                resource=EventResource("booking", new_id(), 1),
                data={"n": 1},
            )
            for studio in studios
        ]
        async with self._db.transaction() as conn:
            await add_events(conn, events)
        now = time.perf_counter()
        self.committed |= {event.id: now for event in events}
        self._of |= {event.id: event.studio_id for event in events}
        async with self._db.connection() as conn:
            await conn.execute(WAKE)

    async def at_rate(self, rate: float, samples: int, *, hot: bool) -> list[float]:
        """Until the studios other than the first have `samples` events. Every second one is the hot one's."""
        first, others = self.studios[0], self.studios[1:]
        turn = [studio for other in others for studio in (first, other)] if hot else list(self.studios)
        self.committed.clear()
        started, written, sampled = time.perf_counter(), 0, 0
        while sampled < samples:
            due = int((time.perf_counter() - started) * rate) - written
            batch = [turn[(written + place) % len(turn)] for place in range(due)]
            if batch:
                await self.write(batch)
            written += due
            sampled += sum(studio != first for studio in batch)
            await asyncio.sleep(TICK)
        await self.until_received()
        return [
            self._noted.at[event_id] - at
            for event_id, at in self.committed.items()
            if self._of[event_id] != first
        ]

    async def until_received(self) -> None:
        await until(lambda: self.committed.keys() <= self._noted.at.keys(), seconds=300)


async def _peak(writer: _Writer, events: int) -> float:
    """Events per second from commit to receipt while more are waiting than can be delivered."""
    started = time.perf_counter()
    for _ in range(events // len(writer.studios)):
        await writer.write(writer.studios)
    await writer.until_received()
    return len(writer.committed) / (time.perf_counter() - started)


async def run_hot_studio(pipeline: Pipeline, *, samples: int, rounds: int, peak_events: int) -> HotReport:
    """In turns, so that a change in the machine's speed meets both."""
    async with arrivals() as (noted, url), aiohttp.ClientSession() as session:
        system = System(pipeline.running, session)
        studios = [await system.new_studio() for _ in range(STUDIOS)]
        for number, studio in enumerate(studios):
            partner = system.partner(await system.key(studio=studio))
            await partner.create("/webhook-endpoints", {"url": f"{url}/{number}"})
        async with opened_database(pipeline.database_url, "bookings", size=4) as db:
            writer = _Writer(db, noted, studios)
            await _peak(writer, STUDIOS * 5)
            writer.committed.clear()
            report = HotReport(peak=await _peak(writer, peak_events))
            for _ in range(rounds):
                report.control += await writer.at_rate(report.peak / 2, samples // rounds, hot=False)
                report.hot += await writer.at_rate(report.peak / 2, samples // rounds, hot=True)
    return report
