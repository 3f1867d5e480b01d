"""One, two and four replicas of a service, each limited to a share of a core: how well does it scale?

The other services are not limited. There are events of 100 studios, because one studio is not split. Replicas
are added and taken away again; each way up or down is a round.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from bench.cores import ALL, LOAD_CORES, SERVED, pin_tree
from bench.draining import Backlog, drain_rate
from bench.events import capture_events, copy_endpoint
from bench.measure import Line, Outcome, Plan, Ratio, Sample, median_ratio
from bench.partner import post
from bench.shares import held_to
from bench.studios import Studio, furnish
from bench.system import System
from bench.testbed import Testbed

ROW = "replicas"
STUDIOS = [Studio(100 + n, f"replicas-{n}", 10, 10) for n in range(100)]
TOLD = [Studio(300 + n, f"replicas-told-{n}", 10, 10) for n in range(100)]
REPLICAS = (1, 2, 4)
SHARE = 0.1
# Per studio and replica. One delivery costs about as much as logging three events.
EVENTS, EVENTS_TOLD = 30, 4
ENDPOINTS = 5
RELAYED, LOGGED, DELIVERED = "relay", "event log", "deliveries"
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
            name=f"{count} × {SHARE:g} of a core, by {by}",
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
            pids = [pid for system in (five, *more) for pid in system.pids(service)]
            with held_to(SHARE, pids) as by:
                for kind in kinds:
                    rate = measure(five, kind, count)
                    found.setdefault((kind, count), []).append(rate)
    finally:
        for system in more:
            system.stop()
    return by


def measure(system: System, kind: str, replicas: int) -> float:
    told = kind == DELIVERED
    studios = TOLD if told else STUDIOS
    events = (EVENTS_TOLD if told else EVENTS) * replicas
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
