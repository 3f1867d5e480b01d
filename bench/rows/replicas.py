"""One, two and four replicas of a service, each limited to a share of a core: how well does it scale?

The other services are not limited, so the share is so small that they keep up. There are events of 100
studios, because one studio is not split. Replicas are added and taken away again; each way up or down is a
round, which begins when they have shared the partitions out.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg

from bench.cores import ALL, LOAD_CORES, SERVED, pin_tree
from bench.draining import Backlog, drain_rate
from bench.events import capture_events, copy_endpoint
from bench.measure import Line, Outcome, Plan, Ratio, Sample, median_ratio
from bench.partner import post
from bench.problem import BenchProblem
from bench.shares import held_to
from bench.studios import Studio, furnish
from bench.system import System
from bench.testbed import Testbed

ROW = "replicas"
STUDIOS = [Studio(100 + n, f"replicas-{n}", 10, 10) for n in range(100)]
TOLD = [Studio(300 + n, f"replicas-told-{n}", 10, 10) for n in range(100)]
REPLICAS = (1, 2, 4)
ENDPOINTS = 5
RELAYED, LOGGED, DELIVERED = "relay", "event log", "deliveries"
# Of one core: relaying an event costs far less than logging it.
SHARES = {RELAYED: 0.02, LOGGED: 0.1, DELIVERED: 0.1}
# Per studio and replica: what takes seconds.
EVENTS = {RELAYED: 30, LOGGED: 60, DELIVERED: 4}
SHARED_OUT = """
SELECT bool_and(n BETWEEN partitions / $1::int AND partitions / $1::int + 1)
   AND count(*) = $1::int * count(DISTINCT role)
FROM (SELECT role, count(*) AS n, sum(count(*)) OVER (PARTITION BY role) AS partitions
      FROM {schema}.leases GROUP BY role, replica) AS held
"""
SHARED_OUT_SECONDS = 60.0
BACKLOGS = {
    RELAYED: Backlog("SELECT -count(*) FROM bookings.outbox", emptied=True),
    LOGGED: Backlog("SELECT count(*) FROM webhooks.events"),
    DELIVERED: Backlog("SELECT count(*) FROM webhooks.deliveries WHERE status = 'succeeded'"),
}


def run(testbed: Testbed, plan: Plan) -> Outcome:
    prepare(testbed)
    sweeps = 1 if plan.quick else min(2, plan.rounds)
    found: dict[tuple[str, int], list[float]] = {}
    by = ""
    with spread_out(testbed):
        for _ in range(sweeps):
            for service, kinds in (("bookings", (RELAYED,)), ("webhooks", (LOGGED, DELIVERED))):
                by = sweep(testbed, service, kinds, found)
    lines = [
        Line(
            row=f"{ROW}: {kind}",
            name=f"{count} × {SHARES[kind]:g} of a core, by {by}",
            unit="events/s" if kind != DELIVERED else "deliveries/s",
            samples=[Sample(rate=rate) for rate in rates],
        )
        for (kind, count), rates in sorted(found.items())
    ]
    ratios = [
        Ratio(
            row=ROW,
            text=f"{kind}, {count} replicas of 1",
            value=median_ratio(found[kind, count], found[kind, 1]),
            must={2: 1.6}.get(count),
            aim={2: 1.8, 4: 3.2}[count],
        )
        for kind in BACKLOGS
        for count in REPLICAS[1:]
    ]
    return Outcome(lines=lines, ratios=ratios)


def prepare(testbed: Testbed) -> None:
    """Creates studios, one real event of each to copy, and endpoints for half of them."""
    five = testbed.system
    keys = furnish(five.operator, five.database_url, [*STUDIOS, *TOLD])
    body = {"url": f"{testbed.nginx.url}/hook", "event_types": ["booking.created"]}
    for studio in TOLD:
        post(f"{five.partner_url}/webhook-endpoints", keys[studio.name], body)
        copy_endpoint(five, studio, ENDPOINTS)
    capture_events(five, {studio: keys[studio.name] for studio in (*STUDIOS, *TOLD)})


def sweep(
    testbed: Testbed, service: str, kinds: tuple[str, ...], found: dict[tuple[str, int], list[float]]
) -> str:
    five, by = testbed.system, ""
    more: list[System] = []
    urls = {name: f"http://127.0.0.1:{port}" for name, port in five.ports.items() if name != service}
    try:
        for count in (*REPLICAS, *reversed(REPLICAS)):
            while len(more) > count - 1:
                more.pop().stop()
            while len(more) < count - 1:
                home = testbed.home(f"{service}-{len(more)}")
                other = System(home, five.database_url, amqp_url=testbed.rabbit.url, secrets_of=five)
                more.append(other)
                other.serve([service], urls=urls, cores=ALL)
            asyncio.run(until_shared_out(five.database_url, service, count))
            pids = [pid for system in (five, *more) for pid in system.pids(service)]
            for kind in kinds:
                with held_to(SHARES[kind], pids) as by:
                    rate = measure(five, kind, count)
                    found.setdefault((kind, count), []).append(rate)
    finally:
        for system in more:
            system.stop()
    return by


async def until_shared_out(url: str, service: str, replicas: int) -> None:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(url)
    try:
        deadline = time.monotonic() + SHARED_OUT_SECONDS
        while not await conn.fetchval(SHARED_OUT.format(schema=service), replicas):
            if time.monotonic() > deadline:
                raise BenchProblem(f"{replicas} replicas of {service} have not shared its partitions out")
            await asyncio.sleep(0.2)
    finally:
        await conn.close()


def measure(system: System, kind: str, replicas: int) -> float:
    told = kind == DELIVERED
    studios = TOLD if told else STUDIOS
    events = EVENTS[kind] * replicas
    units = len(studios) * events * (ENDPOINTS if told else 1)
    return drain_rate(system, BACKLOGS[kind], studios, each=events, units=units)


@contextmanager
def spread_out(testbed: Testbed) -> Iterator[None]:
    """Unpins all processes while the row runs: their CPU share limits them, not a core."""
    try:
        pin_tree(testbed.postgres_pid, ALL)
        for process in testbed.system.processes.values():
            pin_tree(process.pid, ALL)
        yield
    finally:
        pin_tree(testbed.postgres_pid, LOAD_CORES)
        for process in testbed.system.processes.values():
            pin_tree(process.pid, SERVED)
