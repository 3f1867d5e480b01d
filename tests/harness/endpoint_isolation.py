"""Healthy endpoints with a hanging and a failing one next to them, compared to healthy ones alone."""

import asyncio
import logging
import statistics
import time
from contextlib import AsyncExitStack
from typing import Any

import structlog
from msgspec import Struct

from shared.events.envelope import render
from shared.events.kinds import LeadCreated
from shared.settings import DEFAULT_RETRY_SCHEDULE
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, answering, hang, receiving
from tests.harness.tenant_fairness import percentile
from tests.services.webhooks.studio_client import StudioClient, open_studio_client


class Sizes(Struct, frozen=True):
    healthy: int
    backlog: int
    rounds: int
    burst: int
    steady_seconds: float
    steady_rate: float


class Rounds(Struct):
    """The waits of all rounds, because one has too few for a p99, and the deliveries per second of each."""

    waits: list[float] = []
    per_second: list[float] = []


class IsolationReport(Struct):
    alone: Rounds
    with_faulty: Rounds
    backlog_left: int = 0

    @property
    def p99_ratio(self) -> float:
        return percentile(self.with_faulty.waits, 0.99) / percentile(self.alone.waits, 0.99)

    @property
    def throughput_ratio(self) -> float:
        """The median over pairs of consecutive rounds, because the speed of a busy machine drifts."""
        pairs = zip(self.alone.per_second, self.with_faulty.per_second, strict=True)
        return statistics.median(faulty / alone for alone, faulty in pairs)

    def text(self) -> str:
        alone = f"p99 {percentile(self.alone.waits, 0.99) * 1000:.1f} ms"
        alone += f", {statistics.median(self.alone.per_second):,.0f} deliveries/s"
        faulty = f"p99 {self.p99_ratio - 1:+.1%}, deliveries/s {self.throughput_ratio - 1:+.1%}"
        return f"isolation: alone {alone}; beside faulty ones {faulty}; backlog {self.backlog_left:,}"


async def run_isolation(database_url: str, sizes: Sizes) -> IsolationReport:
    report = IsolationReport(Rounds(), Rounds())
    # Logging each attempt to the terminal would distort the measurement.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    async with AsyncExitStack() as stack:
        healthy = await stack.enter_async_context(receiving())
        hanging = await stack.enter_async_context(receiving(keep=False))
        failing = await stack.enter_async_context(receiving(keep=False))
        hanging.response, failing.response = hang, answering(500)
        client = await stack.enter_async_context(
            open_studio_client(database_url, webhook_retry_schedule=DEFAULT_RETRY_SCHEDULE, pool_size=10)
        )
        for number in range(sizes.healthy):
            await client.endpoint(f"{healthy.url}/{number}", event_types=["booking.created"])
        bad = [await client.endpoint(each.url) for each in (hanging, failing)]
        await _set(client, bad, "disabled")
        await _fill(client, bad[0]["id"], sizes.backlog)
        await _measure(client, healthy, sizes, Rounds())
        seen = 0
        for number in range(2 * sizes.rounds):
            # In the order A B, B A, A B …, so that neither has the advantage of being first.
            with_faulty = number % 4 in (1, 2)
            if not with_faulty or number % 4 == 1:
                seen = hanging.count
                await _set(client, bad, "enabled" if with_faulty else "disabled")
            if number % 4 == 1:
                await hanging.until_count(seen + 1, seconds=30)
            await _measure(client, healthy, sizes, report.with_faulty if with_faulty else report.alone)
        rows = await client.sql(
            "SELECT count(*) AS n FROM deliveries WHERE endpoint_id = $1 AND status = 'pending'", bad[0]["id"]
        )
        report.backlog_left = rows[0]["n"]
    return report


async def _set(client: StudioClient, endpoints: list[dict[str, Any]], status: str) -> None:
    for endpoint in endpoints:
        reply = await client.call("PATCH", f"/webhook-endpoints/{endpoint['id']}", {"status": status})
        assert reply.status == 200, reply.body


async def _measure(client: StudioClient, healthy: Receiver, sizes: Sizes, rounds: Rounds) -> None:
    """A steady rate to measure waits, then a burst to measure throughput."""
    healthy.received.clear()
    wanted = healthy.count
    published: dict[str, float] = {}
    due = time.perf_counter()
    until = due + sizes.steady_seconds
    while due < until:
        event = client.event()
        published[event.id] = time.perf_counter()
        await client.publish(event)
        due += 1 / sizes.steady_rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
    wanted += sizes.healthy * len(published)
    await healthy.until_count(wanted, seconds=60)
    rounds.waits += [got.at - published[got.event_id] for got in healthy.received]
    started = time.perf_counter()
    await client.publish_some(sizes.burst)
    await healthy.until_count(wanted + sizes.burst * sizes.healthy, seconds=300)
    rounds.per_second.append(sizes.burst * sizes.healthy / (time.perf_counter() - started))
    await eventually(lambda: _recorded(client), seconds=60)


async def _recorded(client: StudioClient) -> bool:
    """Whether all lanes of healthy endpoints are idle, so that rounds do not overlap."""
    rows = await client.sql("SELECT count(*) AS n FROM lanes WHERE token IS NOT NULL")
    return bool(rows[0]["n"] <= 2)


# The first sequences are left to the events of disabled endpoints.
FILL = """
WITH numbered AS (
    SELECT n, gen_random_uuid() AS id FROM generate_series(1, $3::int) AS n
), logged AS (
    INSERT INTO events (studio_id, id, sequence, type, created_at, body)
    SELECT $1, id, n + 100, 'lead.created', now(), $4::bytea
    FROM numbered RETURNING id, sequence, created_at
), counted AS (
    INSERT INTO event_counters (studio_id, last_sequence) VALUES ($1, $3 + 100)
    ON CONFLICT (studio_id) DO UPDATE SET last_sequence = $3 + 100
), woken AS (
    UPDATE lanes SET last_sequence = $3 + 100
    WHERE endpoint_id = $2
)
INSERT INTO deliveries
    (studio_id, id, endpoint_id, event_id, event_type, sequence, next_attempt_at, created_at,
     event_created_at)
SELECT $1, gen_random_uuid(), $2, id, 'lead.created', sequence, now(), now() + sequence * interval '1 us',
       created_at
FROM logged
"""


async def _fill(client: StudioClient, endpoint_id: str, backlog: int) -> None:
    body = render(client.event(LeadCreated, data={"filler": "x" * 600}))
    async with client.context.db.transaction() as conn:
        # The foreign key refers to rows that this statement creates.
        await conn.execute(FILL, client.studio_id, endpoint_id, backlog, body, timeout=300)
    await client.sql("SELECT 1")
