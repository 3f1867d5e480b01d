"""Scaling: the same load with more rows, processes or endpoints, against the smaller size."""

from bench.cores import ALL, LOAD_CORES, SERVED, cpu_seconds, pin_tree
from bench.load import finish, sample_of
from bench.measure import Line, Measure, Outcome, Plan, Ratio, Sample, interleaved, median_ratio
from bench.outbox import relaying_elsewhere
from bench.rows.booking import Bookings
from bench.rows.webhooks import delivering, subscribe
from bench.studios import MANY_ENDPOINTS, READING, TOLD, WRITING
from bench.system import System
from bench.testbed import Testbed

ROW, ENDPOINTS_ROW = "scale", "endpoints"
FEW, MANY = 10, 10_000


def run(testbed: Testbed, plan: Plan) -> Outcome:
    short = Plan(rounds=min(3, plan.rounds), seconds=plan.seconds, quick=plan.quick)
    parts = [rows(testbed, short), processes(testbed, short)]
    return Outcome(
        lines=[line for part in parts for line in part.lines],
        ratios=[ratio for part in parts for ratio in part.ratios],
    )


def rows(testbed: Testbed, plan: Plan) -> Outcome:
    large = testbed.large_studio
    five = testbed.system
    key = testbed.keys[large.name]
    classes = f"{five.partner_url}/classes?limit=50"
    first, last = large.class_id(1), large.class_id(large.classes - 100)
    pages: dict[str, Measure] = {
        "page of 1,000 rows": testbed.load(classes, key=testbed.keys[READING.name], served_by=five.chain).run,
        "page after row 1 of 1,000,000": testbed.load(
            f"{classes}&cursor={first}", key=key, served_by=five.chain
        ).run,
        "page after row 999,900": testbed.load(f"{classes}&cursor={last}", key=key, served_by=five.chain).run,
    }
    read = interleaved(f"{ROW}: rows, read", pages, plan)
    # The write row has already used this studio's first numbers.
    writes: dict[str, Measure] = {
        "1,000 classes": Bookings(testbed, WRITING, first=300).ours(five, testbed.keys[WRITING.name]),
        "1,000,000 classes": Bookings(testbed, large).ours(five, key),
    }
    with relaying_elsewhere(five.database_url):
        written = interleaved(f"{ROW}: rows, write", writes, plan)
    small, begin, end = (line.median for line in read.values())
    few, many = (line.median for line in written.values())
    return Outcome(
        lines=[*read.values(), *written.values()],
        ratios=[
            _cost("list page at row 1,000,000, of row 1", begin / end, must=1.2, aim=1.05),
            _cost("page with a cursor in 1,000,000 rows, of a first page in 1,000", small / begin),
            _cost("booking among 1,000,000 classes, of 1,000", few / many),
        ],
    )


def processes(testbed: Testbed, plan: Plan) -> Outcome:
    """One and two processes each of gateway and bookings, sharing all cores with Postgres and the load."""
    five = testbed.system
    second = System(testbed.home("second"), five.database_url, amqp_url=testbed.rabbit.url, secrets_of=five)
    try:
        behind = {name: f"http://127.0.0.1:{five.ports[name]}" for name in ("catalog", "forms", "webhooks")}
        second.serve(["gateway", "bookings"], urls=behind, cores=ALL)
        spread_out = [testbed.postgres_pid, *(process.pid for process in five.processes.values())]
        for pid in spread_out:
            pin_tree(pid, ALL)
        key = testbed.keys[READING.name]
        found = interleaved(
            f"{ROW}: processes, read",
            {
                "1 gateway, 1 bookings": _reading(testbed, [five], key),
                "2 gateways, 2 bookings": _reading(testbed, [five, second], key),
            },
            plan,
        )
    finally:
        second.stop()
        pin_tree(testbed.postgres_pid, LOAD_CORES)
        for process in five.processes.values():
            pin_tree(process.pid, SERVED)
    one, two = (line.median for line in found.values())
    return Outcome(
        lines=list(found.values()),
        ratios=[
            Ratio(row=ROW, text=f"2 processes of each, of 1, on {len(ALL)} cores in all", value=two / one)
        ],
    )


def _reading(testbed: Testbed, systems: list[System], key: str) -> Measure:
    loads = [
        testbed.load(
            f"{system.partner_url}/classes?limit=50", key=key, connections=64 // len(systems), cores=ALL
        )
        for system in systems
    ]
    pids = [pid for system in systems for pid in system.chain]

    def measure(seconds: float) -> Sample:
        before = cpu_seconds(pids)
        running = [(load.start(seconds), load.url) for load in loads]
        samples = [sample_of(finish(child, url), None) for child, url in running]
        rate = sum(sample.rate for sample in samples)
        used = (cpu_seconds(pids) - before) / (rate * seconds)
        return Sample(
            rate=rate,
            p50_ms=max(sample.p50_ms or 0 for sample in samples),
            p99_ms=max(sample.p99_ms or 0 for sample in samples),
            cpu_us=used * 1e6,
        )

    return measure


def run_endpoints(testbed: Testbed, plan: Plan) -> Outcome:
    """The same number of deliveries to a few endpoints and to many."""
    five = testbed.system
    most = MANY // 10 if plan.quick else MANY
    key_of_few, key_of_many = testbed.keys[TOLD.name], testbed.keys[MANY_ENDPOINTS.name]
    subscribe(testbed, five, key_of_few, TOLD, FEW)
    subscribe(testbed, five, key_of_many, MANY_ENDPOINTS, most)
    found: dict[str, Line] = interleaved(
        ENDPOINTS_ROW,
        {
            f"{FEW} endpoints": delivering(five, TOLD, key_of_few, most // FEW, FEW),
            f"{most:,} endpoints": delivering(five, MANY_ENDPOINTS, key_of_many, 1, most),
        },
        plan,
        unit="deliveries/s",
    )
    rates_of_few, rates_of_many = ([sample.rate for sample in line.samples] for line in found.values())
    return Outcome(
        lines=list(found.values()),
        ratios=[
            Ratio(
                row=ENDPOINTS_ROW,
                text=f"deliveries to {most:,} endpoints, of {FEW}",
                value=median_ratio(rates_of_many, rates_of_few),
                must=0.7,
                aim=0.8,
            )
        ],
    )


def _cost(text: str, value: float, must: float | None = None, aim: float | None = None) -> Ratio:
    return Ratio(row=ROW, text=text, value=value, unit="x", must=must, aim=aim, less_is_better=True)
