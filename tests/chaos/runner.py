"""The fault matrix: groups of faults with a number of rounds each, chosen by the seed."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec import Struct, field, structs

from shared.events.outbox import PARTITIONS
from tests.chaos.arena import Arena
from tests.chaos.audit import Findings
from tests.chaos.faults.fault import Fault, Group
from tests.chaos.follower import Follower
from tests.chaos.ledger import Ledger
from tests.chaos.open_arena import REPLICAS, open_arena
from tests.chaos.rounds import Result, run_round
from tests.chaos.writers import Defects, Writers
from tests.harness.bookable_studio import bookable
from tests.harness.broker_cluster import Version
from tests.harness.eventually import in_background

Say = Callable[[str], None]
# Studios whose log is followed.
FOLLOWED = 2


class Plan(Struct, frozen=True):
    """`writes`: the minimum number of acknowledged writes in a round. Classes and members are per studio."""

    groups: tuple[Group, ...]
    rounds: int
    writes: int
    seed: int
    rate: float = 30.0
    classes: int = 50
    members: int = 350
    studios: int = PARTITIONS
    replicas: dict[str, int] = field(default_factory=lambda: dict(REPLICAS))
    cluster: Version | None = None


class Outcome(Struct):
    results: list[Result] = []
    skipped: list[str] = []
    seconds: float = 0.0

    @property
    def problems(self) -> list[str]:
        return [
            f"{result.group}, {result.fault} ({result.detail}): {problem}"
            for result in self.results
            for problem in result.problems()
        ]


async def run(plan: Plan, folder: Path, say: Say) -> Outcome:
    outcome, started = Outcome(), time.monotonic()
    groups = list(_possible(plan.groups, outcome, say))
    say(f"seed {plan.seed}; {len(groups)} groups, {plan.rounds} rounds each; logs in {folder}")
    async with open_arena(folder, plan.replicas, plan.studios, plan.cluster) as arena:
        studios = {
            studio_id: bookable(classes=plan.classes, members=plan.members, seats=100_000)
            for studio_id in arena.studio_ids
        }
        for studio_id, studio in studios.items():
            await arena.system.import_lines(studio.lines, studio_id)
        writers = Writers(arena.gateways, arena.ledger, studios, random.Random(plan.seed), plan.rate)
        arena.followers = [
            Follower(studio_id, arena.gateways, random.Random(f"{plan.seed} {studio_id}"))
            for studio_id in arena.studio_ids[:FOLLOWED]
        ]
        say(f"started after {time.monotonic() - started:.0f} s")
        async with in_background(*(follower.run() for follower in arena.followers)):
            for group in groups:
                try:
                    await _run_group(plan, arena, writers, group, outcome, say)
                except Exception as problem:
                    findings = Findings(stuck=[f"the group could not be set up or ended: {problem!r}"])
                    outcome.results.append(Result(group.name, "", "", 0, 0.0, findings, Defects()))
                    say(f"{group.name}: {findings.stuck[0][:400]}")
                    await arena.repair()
        say(written(arena.ledger))
    outcome.seconds = time.monotonic() - started
    return outcome


def written(ledger: Ledger) -> str:
    """How often each kind of write was acknowledged, to see that none was left out."""
    kinds = Counter(kind for kind, _ in ledger.writes)
    listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    return f"acknowledged: {listed}; {len(ledger.paths)} endpoints changed"


def _possible(groups: Sequence[Group], outcome: Outcome, say: Say) -> Iterator[Group]:
    """Skips what this machine cannot run, and says so."""
    for group in groups:
        reasons = {group.name: group.missing()}
        reasons |= {f"{group.name}, {fault.name}": fault.missing() for fault in group.faults}
        for name, reason in reasons.items():
            if reason is not None:
                outcome.skipped.append(f"{name}: skipped, {reason}")
                say(outcome.skipped[-1])
        faults = tuple(fault for fault in group.faults if fault.missing() is None)
        if faults and group.missing() is None:
            yield structs.replace(group, faults=faults)


async def _run_group(
    plan: Plan, arena: Arena, writers: Writers, group: Group, outcome: Outcome, say: Say
) -> None:
    draw = random.Random(f"{plan.seed} {group.name}")
    known: set[str] = set()
    async with AsyncExitStack() as stack:
        if group.setup is not None:
            await stack.enter_async_context(group.setup(arena))
        for number, fault in enumerate(drawn(group.faults, plan.rounds, draw), start=1):
            try:
                result = await run_round(arena, writers, group, fault, draw, writes=plan.writes, known=known)
            except Exception as problem:
                # A round that fails to complete is a finding too, and the next ones still run.
                findings = Findings(stuck=[f"the round failed: {problem!r}"])
                result = Result(group.name, fault.name, "", 0, 0.0, findings, writers.defects)
                await arena.repair()
            outcome.results.append(result)
            problems = result.problems()
            verdict = f"{len(problems)} PROBLEMS" if problems else "ok"
            say(
                f"{group.name} {number}/{plan.rounds}: {fault.name} ({result.detail}); "
                f"{result.acknowledged} acknowledged, {len(arena.ledger.writes):,} in all; "
                f"recovered after {result.recovered:.1f} s; {verdict}"
            )
            for text in problems[:5]:
                say(f"    {text[:400]}")


def drawn(faults: Sequence[Fault], rounds: int, draw: random.Random) -> list[Fault]:
    """Each fault occurs equally often, to within one, in random order."""
    found: list[Fault] = []
    while len(found) < rounds:
        found += draw.sample(faults, len(faults))
    return found[:rounds]
