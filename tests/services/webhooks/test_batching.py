"""Queries of many lanes at the same time are batched into one statement."""

import asyncio
from collections.abc import Sequence

import pytest

from services.webhooks.dispatcher.batches import BATCH, Batcher
from services.webhooks.dispatcher.dispatcher import CLAIM_AGAIN, Dispatcher
from services.webhooks.dispatcher.sender import Sender
from services.webhooks.rules.retry import Breaker
from services.webhooks.store import attempts, lanes
from services.webhooks.store.attempts import Wanted
from services.webhooks.store.lanes import Release
from shared.background import Wakeup
from shared.db.database import Connection
from shared.wire import new_id, now
from tests.harness.eventually import until
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import StudioClient, open_studio_client


class Doubling:
    """A statement that a test can delay, and that fails for 13."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, conn: Connection, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        await self.open.wait()
        if 13 in numbers:
            raise ValueError("unlucky")
        return list(await conn.fetchval("SELECT array_agg(n * 2) FROM unnest($1::int[]) AS n", list(numbers)))


async def test_concurrent_queries_share_one_statement(client: StudioClient) -> None:
    """Each lane gets its own result."""
    statement = Doubling()
    batcher = Batcher(client.context.db, statement)
    answers = await asyncio.gather(*(batcher.ask(number) for number in range(20, 20 + BATCH)))
    assert answers == [number * 2 for number in range(20, 20 + BATCH)]
    assert len(statement.batches) == 1


async def test_queries_during_a_statement_are_in_the_next_one(client: StudioClient) -> None:
    """A slow database makes the batches larger, not the queue longer."""
    statement = Doubling()
    statement.open.clear()
    batcher = Batcher(client.context.db, statement)
    pending = []
    for number in (20, 21):
        pending.append(asyncio.create_task(batcher.ask(number)))
        await until(lambda: statement.batches[-1:] == [[number]])  # noqa: B023
    pending += [asyncio.create_task(batcher.ask(number)) for number in range(22, 50)]
    await asyncio.sleep(0.05)
    assert statement.batches == [[20], [21]]
    statement.open.set()
    assert await asyncio.gather(*pending) == [number * 2 for number in range(20, 50)]
    assert statement.batches[2:] == [list(range(22, 50))]


async def test_one_failing_query_does_not_fail_the_others(client: StudioClient) -> None:
    """The batch is repeated one by one, and only the failing query gets the error."""
    batcher = Batcher(client.context.db, Doubling())
    answers = await asyncio.gather(*(batcher.ask(number) for number in (12, 13, 14)), return_exceptions=True)
    assert answers[0] == 24 and answers[2] == 28
    assert isinstance(answers[1], ValueError)


async def test_a_cancelled_lane_does_not_affect_the_others(client: StudioClient) -> None:
    """Its query is still in the batch."""
    statement = Doubling()
    statement.open.clear()
    batcher = Batcher(client.context.db, statement)
    gone, stays = (asyncio.create_task(batcher.ask(number)) for number in (20, 21))
    await until(lambda: bool(statement.batches))
    gone.cancel()
    statement.open.set()
    assert await stays == 42
    with pytest.raises(asyncio.CancelledError):
        await gone


async def test_a_dispatcher_at_its_limit_claims_more_as_soon_as_lanes_end(
    database_url: str, receiver: Receiver
) -> None:
    """It is woken, instead of leaving free lanes until the next poll."""
    wakeup = Wakeup()
    async with open_studio_client(database_url, webhooks_only="log") as client:
        for _ in range(CLAIM_AGAIN):
            await client.endpoint(receiver.url)
        await client.sql("UPDATE lanes SET due_at = now()")
        context = client.context
        async with Sender(context.urls) as sender:
            dispatcher = Dispatcher(
                context.db, sender, context.cipher, (0.05,), max_lanes=CLAIM_AGAIN, wakeup=wakeup
            )
            try:
                await dispatcher.step()
                assert dispatcher.lanes_running == CLAIM_AGAIN
                await until(lambda: dispatcher.lanes_running == 0)
                assert wakeup.notified == 1
            finally:
                await dispatcher.stop()


async def test_lanes_are_released_in_one_statement_that_skips_locked_ones(client: StudioClient) -> None:
    """The event log locks many lanes in its own order: waiting for one while holding others is a deadlock."""
    made = [await client.endpoint("https://partner.example/hook") for _ in range(3)]
    token = new_id()
    await client.sql("UPDATE lanes SET token = $1, leased_until = now() + interval '50 s'", token)
    held = [lanes.Lease(one["id"], client.studio_id, token) for one in made]
    lost = lanes.Lease(made[0]["id"], client.studio_id, new_id())
    db = client.context.db
    async with db.transaction() as event_log, db.connection() as conn:
        await event_log.execute("UPDATE lanes SET wakes = wakes WHERE endpoint_id = $1", made[1]["id"])
        seen = await attempts.load(conn, [Wanted(lease, [], 0) for lease in held])
        releases = [
            Release(lease, loaded.target.wakes, True, Breaker(), now())
            for lease, loaded in zip([*held, lost], [*seen, seen[0]], strict=True)
            if loaded is not None
        ]
        assert await lanes.release(conn, releases) == [False, None, False, False]
