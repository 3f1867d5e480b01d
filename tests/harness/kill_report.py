"""Compares what was committed with what is in the event log, after replicas and broker nodes were killed."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import asyncpg
from msgspec import Struct

from tests.harness.event_writer import EventWriter
from tests.harness.eventually import eventually
from tests.harness.takeover import Takeover

TAKEOVER_SECONDS = 10.0
DRAIN_SECONDS = 300.0
LOG = "SELECT id::text, studio_id::text, sequence FROM webhooks.events ORDER BY studio_id, sequence"
COUNT = "SELECT count(*) FROM webhooks.events"
OUTBOXES = """
SELECT (SELECT count(*) FROM bookings.outbox) + (SELECT count(*) FROM forms.outbox)
     + (SELECT count(*) FROM webhooks.outbox)
"""


class KillReport(Struct):
    broker: str
    written: int = 0
    studios: int = 0
    lost: int = 0
    unknown: int = 0
    twice: int = 0
    gaps: int = 0
    out_of_order: int = 0
    left_in_outboxes: int = 0
    undelivered: int = 0
    seconds: float = 0.0
    takeovers: list[Takeover] = []

    @property
    def slow(self) -> list[Takeover]:
        return [one for one in self.takeovers if max(one.leased, one.logged) >= TAKEOVER_SECONDS]

    @property
    def balances(self) -> bool:
        wrong = (self.lost, self.unknown, self.twice, self.gaps, self.out_of_order)
        return not any(wrong) and self.left_in_outboxes == 0 and self.undelivered == 0

    def text(self) -> str:
        lines = [
            f"RabbitMQ {self.broker}: {self.written:,} events of {self.studios} studios; lost {self.lost}, "
            f"unknown {self.unknown}, twice in the log {self.twice}, gaps {self.gaps}, "
            f"out of order {self.out_of_order}, left in outboxes {self.left_in_outboxes}, "
            f"undelivered {self.undelivered}; {self.seconds:.0f} s",
            f"{'killed':<12} {'leased':>8} {'logged':>8} {'delivered':>10}",
        ]
        for one in self.takeovers:
            leased, logged, delivered = map(_text, (one.leased, one.logged, one.delivered))
            lines.append(f"{one.killed:<12} {leased:>8} {logged:>8} {delivered:>10}")
        return "\n".join(lines)


def _text(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.1f} s"


async def audit(
    report: KillReport,
    conn: "asyncpg.Connection[Any]",
    writers: Sequence[EventWriter],
    arrived: Mapping[str, float],
    listening: Sequence[str],
) -> None:
    written = {one.id: one for writer in writers for one in writer.written}
    wanted = {one.id for one in written.values() if one.studio_id in frozenset(listening)}
    report.written, report.studios = len(written), len({one.studio_id for one in written.values()})

    async def all_logged() -> bool:
        logged: int = await conn.fetchval(COUNT)
        return logged >= len(written) and not await conn.fetchval(OUTBOXES) and wanted <= arrived.keys()

    # If not, the figures below say what is missing.
    with suppress(TimeoutError):
        await eventually(all_logged, seconds=DRAIN_SECONDS)
    report.left_in_outboxes = await conn.fetchval(OUTBOXES)
    report.undelivered = len(wanted - arrived.keys())
    rows = await conn.fetch(LOG)
    counts = Counter(row["id"] for row in rows)
    report.lost = len(written.keys() - counts.keys())
    report.unknown = len(counts.keys() - written.keys())
    report.twice = sum(counts.values()) - len(counts)
    last: dict[str, int] = defaultdict(int)
    versions: dict[str, int] = {}
    for row in rows:
        report.gaps += row["sequence"] != last[row["studio_id"]] + 1
        last[row["studio_id"]] = row["sequence"]
        if one := written.get(row["id"]):
            report.out_of_order += one.version <= versions.get(one.aggregate, -1)
            versions[one.aggregate] = one.version
