"""The parts of a pipeline are killed in turn while partners write, and the ledger has to balance."""

import asyncio
import random
from contextlib import AsyncExitStack

from msgspec import Struct

from tests.chaos.arena import ENDPOINTS
from tests.chaos.audit import balance, settle
from tests.chaos.ledger import Ledger
from tests.chaos.open_arena import add_endpoint
from tests.chaos.receiver import receiving
from tests.chaos.rounds import Result
from tests.chaos.writers import Gateway, Writers
from tests.harness.bookable_studio import bookable
from tests.harness.eventually import until
from tests.harness.pipeline import Pipeline

PARTS = ("relay", "broker", "dispatcher", "postgres")
DEAD_SECONDS = 0.5


class Report(Struct):
    acknowledged: int
    requests: int
    problems: list[str]

    @property
    def balances(self) -> bool:
        return not self.problems

    def text(self) -> str:
        first = "; ".join(self.problems[:20]) or "none"
        return f"{self.acknowledged} writes acknowledged, {self.requests} requests; problems: {first}"


async def run_ledger(pipeline: Pipeline, *, writes: int, rate: float) -> Report:
    """Goes on until all parts were killed and there are so many acknowledged writes."""
    pipeline.ledger = ledger = Ledger({})
    studio_id, system = pipeline.system.studio_id, pipeline.system
    pipeline.studio_ids = [studio_id]
    issued = await system.issue()
    await system.limit(issued)
    partner = system.partner(issued["key"])

    async def written(count: int) -> None:
        await until(lambda: len(ledger.writes) >= count, seconds=300)

    async with AsyncExitStack() as stack:
        for name, fifo in ENDPOINTS.items():
            receiver = await stack.enter_async_context(receiving(name, ledger.note))
            await add_endpoint(ledger, partner, studio_id, name, receiver.port, fifo=fifo)
        studio = bookable(classes=20, members=100, seats=100_000)
        await system.import_lines(studio.lines)
        gateways = [Gateway("gateway", system.operator, {studio_id: partner})]
        writers = Writers(gateways, ledger, {studio_id: studio}, random.Random(), rate)
        writers.start()
        try:
            for number, part in enumerate(PARTS, start=1):
                await written(writes * number // (len(PARTS) + 1))
                await pipeline.kill(part)
                await asyncio.sleep(DEAD_SECONDS)
                await pipeline.revive(part)
            await written(writes)
        finally:
            await writers.stop()
        found = await settle(pipeline)
        await balance(pipeline, found, set())
    result = Result("pipeline", "", "", len(ledger.writes), 0.0, found, writers.defects)
    return Report(result.acknowledged, ledger.requests, result.problems())
