"""One round: write, inject, hold, heal, let it settle, measure the recovery, audit."""

import asyncio
import random
import time

from msgspec import Struct

from tests.chaos.arena import Arena
from tests.chaos.audit import SETTLE_SECONDS, Findings, balance, settle
from tests.chaos.faults.fault import Fault, Group
from tests.chaos.ledger import Ledger
from tests.chaos.writers import Defects, Writers

WARM_UP_SECONDS = 0.7
# While a fault lasts, what was acknowledged longer ago than this has arrived again.
FLOW_SECONDS = 1.0
# What each gateway must do again before it counts as recovered.
KINDS = ("booking.created", "member.created", "lead.created")


class Result(Struct):
    group: str
    fault: str
    detail: str
    acknowledged: int
    recovered: float
    findings: Findings
    defects: Defects

    def problems(self) -> list[str]:
        """All problems, as sentences."""
        lists = {
            "lost": self.findings.lost,
            "duplicated": self.findings.duplicated,
            "corrupted": self.findings.corrupted,
            "stuck": self.findings.stuck + self.defects.given_up,
            "wrong status": self.defects.wrong_statuses,
            "no answer": self.defects.unanswered,
        }
        return [f"{name}: {text}" for name, texts in lists.items() for text in texts]


async def run_round(
    arena: Arena,
    writers: Writers,
    group: Group,
    fault: Fault,
    draw: random.Random,
    *,
    writes: int,
    known: set[str],
) -> Result:
    writers.defects = Defects()
    ledger = arena.ledger
    before, expected = len(ledger.writes), len(ledger.expected)
    writers.start()
    taken_over = True
    try:
        await asyncio.sleep(WARM_UP_SECONDS)
        async with fault.inject(arena, draw) as detail:
            await asyncio.sleep(draw.uniform(*fault.seconds))
            healed = time.monotonic()
            if fault.lasting:
                writing = await _writing_again(arena, writers, healed)
                await _written(ledger, before + writes, healed)
                taken_over = await _flowing(ledger, healed)
        if not fault.lasting:
            writing = await _writing_again(arena, writers, healed)
            await _written(ledger, before + writes, healed)
    finally:
        await writers.stop()
    findings = await settle(arena)
    if not taken_over:
        findings.stuck.append(f"nobody took over within {SETTLE_SECONDS:.0f} s")
    await balance(arena, findings, known)
    recovered = max(writing, ledger.slowest(list(ledger.expected)[expected:], healed))
    if recovered > group.recovery_seconds:
        findings.stuck.append(f"recovered after {recovered:.0f} s, not within {group.recovery_seconds:.0f} s")
    acknowledged = len(ledger.writes) - before
    return Result(group.name, fault.name, detail, acknowledged, recovered, findings, writers.defects)


async def _writing_again(arena: Arena, writers: Writers, healed: float) -> float:
    """Seconds until every gateway accepts writes of each kind."""
    while time.monotonic() - healed < SETTLE_SECONDS:
        if all(
            writers.last_success.get((gateway.name, kind), 0.0) > healed
            for gateway in arena.gateways
            for kind in KINDS
        ):
            break
        await asyncio.sleep(0.05)
    return time.monotonic() - healed


async def _written(ledger: Ledger, writes: int, healed: float) -> None:
    while len(ledger.writes) < writes and time.monotonic() - healed < SETTLE_SECONDS:
        await asyncio.sleep(0.05)


async def _flowing(ledger: Ledger, healed: float) -> bool:
    """Whether everything that was acknowledged a moment ago has arrived, soon enough."""
    while ledger.missing(before=time.monotonic() - FLOW_SECONDS):
        if time.monotonic() - healed > SETTLE_SECONDS:
            return False
        await asyncio.sleep(0.05)
    return True
