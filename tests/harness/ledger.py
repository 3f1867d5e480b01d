"""The ledger: compares every committed event with every received request, under injected faults."""

import asyncio
import hashlib
import itertools
import time
from collections import defaultdict
from typing import Any

import asyncpg
from msgspec import Struct

from shared.db.database import Database
from shared.events.event import Event, EventResource
from shared.events.kinds import BookingCreated, LeadCreated
from shared.events.outbox import add_events
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.harness.pipeline import Pipeline
from tests.harness.receiver import Received, Receiver

FAULTS = ("relay", "broker", "dispatcher", "postgres")
CHUNK = 20
STORED = "SELECT id::text FROM webhooks.events UNION SELECT event_id::text FROM bookings.outbox"


class Report(Struct):
    """All lists except `faults` must be empty. `changed`: ids that arrived with different bodies."""

    written: int = 0
    maybe: int = 0
    faults: list[str] = []
    requests: int = 0
    duplicates: int = 0
    undelivered: list[str] = []
    unknown: list[str] = []
    changed: list[str] = []
    gaps: list[str] = []
    parked: int = 0
    outbox: int = 0
    seconds: float = 0.0

    def text(self) -> str:
        kills = ", ".join(f"{part} x{self.faults.count(part)}" for part in FAULTS)
        return (
            f"ledger: {self.written:,} events committed ({self.maybe} commits cut off), killed: {kills}; "
            f"{self.requests:,} requests, {self.duplicates:,} of them repeats with the same webhook-id; "
            f"undelivered {len(self.undelivered)}, unknown {len(self.unknown)}, changed {len(self.changed)}, "
            f"gaps {len(self.gaps)}, parked {self.parked}, in the outbox {self.outbox}; {self.seconds:.0f} s"
        )

    @property
    def balances(self) -> bool:
        wrong = (self.undelivered, self.unknown, self.changed, self.gaps)
        return not any(wrong) and self.parked == 0 and self.outbox == 0


class Book:
    """What receivers got, in little memory: a count and a digest per endpoint and id."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.digests: dict[str, bytes] = {}
        self.sequences: dict[str, set[int]] = defaultdict(set)
        self.changed: list[str] = []

    def watch(self, name: str, receiver: Receiver) -> None:
        answer = receiver.answer

        async def note(got: Received) -> Any:
            self.counts[name][got.event_id] += 1
            self.sequences[name].add(got.sequence)
            digest = hashlib.sha256(got.body).digest()
            if self.digests.setdefault(got.event_id, digest) != digest:
                self.changed.append(got.event_id)
            return await answer(got)

        receiver.answer = note


async def run_ledger(
    pipeline: Pipeline, receivers: list[Receiver], *, events: int, rounds: int, fault_seconds: float = 6.0
) -> Report:
    """Writes `events` in small transactions while each part is killed and restarted `rounds` times."""
    report, book, started = Report(), Book(), time.monotonic()
    partner = pipeline.system.partner(await pipeline.system.key())
    for number, receiver in enumerate(receivers):
        kinds = ["booking.created"] if number % 2 else []
        reply = await partner.post("/webhook-endpoints", {"url": receiver.url, "event_types": kinds})
        assert reply.status == 201, reply.body
        book.watch(str(number), receiver)
    written: dict[str, str] = {}
    maybe: dict[str, str] = {}
    # Writing continues while faults are injected. Each takes about `fault_seconds`.
    pause = CHUNK * len(FAULTS) * rounds * fault_seconds / events
    writing = asyncio.create_task(_write(pipeline, events, pause, written, maybe))
    for part in itertools.chain.from_iterable([FAULTS] * rounds):
        goal = min(events, len(written) + events // (len(FAULTS) * rounds + 2))
        while len(written) < goal and not writing.done():
            await asyncio.sleep(0.05)
        await pipeline.kill(part)
        await asyncio.sleep(0.5)
        await pipeline.revive(part)
        report.faults.append(part)
    await writing
    rows = await pipeline.rows(STORED)
    stored = {row["id"] for row in rows}
    report.maybe = len(maybe)
    written |= {id_: kind for id_, kind in maybe.items() if id_ in stored}
    report.written = len(written)
    wanted = {
        str(number): {id_ for id_, kind in written.items() if not number % 2 or kind == "booking.created"}
        for number in range(len(receivers))
    }
    await _until_quiet(book, wanted)
    return await _audit(pipeline, report, book, wanted, started)


async def _write(
    pipeline: Pipeline, events: int, pause: float, written: dict[str, str], maybe: dict[str, str]
) -> None:
    """A producer that writes events in its own transactions and survives crashes of Postgres."""
    studio = pipeline.system.studio_id
    resources = [new_id() for _ in range(50)]
    version = itertools.count(1)
    db: Database | None = None
    while len(written) < events:
        chunk: list[Event] = [
            kind(studio_id=studio, resource=EventResource("booking", resource, next(version)), data={"n": 1})
            for resource, kind in zip(resources, itertools.cycle((BookingCreated, LeadCreated)), strict=False)
        ][:CHUNK]
        named = {event.id: event.type for event in chunk}
        committing = False
        try:
            db = db or await open_database(pipeline.database_url, "bookings", size=2)
            async with db.pool.acquire(timeout=5) as conn:
                transaction = conn.transaction()
                await transaction.start()
                await add_events(conn, chunk)
                committing = True
                await transaction.commit()
        except (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError, asyncpg.PostgresError):
            if committing:
                maybe |= named
            await asyncio.sleep(0.2)
            continue
        written |= named
        resources = resources[CHUNK:] + resources[:CHUNK]
        await asyncio.sleep(pause)
    if db is not None:
        await db.close()


async def _until_quiet(book: Book, wanted: dict[str, set[str]], *, quiet_seconds: float = 90.0) -> None:
    """Waits until everything has arrived, or nothing has arrived for a while."""
    last, since = -1, time.monotonic()
    while any(ids - book.counts[name].keys() for name, ids in wanted.items()):
        total = sum(len(counts) for counts in book.counts.values())
        if total != last:
            last, since = total, time.monotonic()
        if time.monotonic() - since > quiet_seconds:
            return
        await asyncio.sleep(0.2)
    await asyncio.sleep(1.0)


async def _audit(
    pipeline: Pipeline, report: Report, book: Book, wanted: dict[str, set[str]], started: float
) -> Report:
    report.outbox = await pipeline.left_in_outbox()
    for name, ids in wanted.items():
        got = book.counts[name]
        report.requests += sum(got.values())
        report.duplicates += sum(got.values()) - len(got)
        report.undelivered += [f"{name}:{id_}" for id_ in sorted(ids - got.keys())]
        report.unknown += [f"{name}:{id_}" for id_ in sorted(got.keys() - ids)]
        sequences = book.sequences[name]
        report.gaps += [f"{name}:{n}" for n in range(1, len(ids) + 1) if n not in sequences]
    rows = await pipeline.rows(
        "SELECT sequence FROM webhooks.events WHERE studio_id = $1 ORDER BY sequence",
        pipeline.system.studio_id,
    )
    report.gaps += [f"log:{place}" for place, row in enumerate(rows, start=1) if row["sequence"] != place][:5]
    report.changed = book.changed
    queues = (await pipeline.system.operator.get("/queues")).json()["data"]
    report.parked = sum(queue["parked"] for queue in queues)
    report.seconds = time.monotonic() - started
    return report
