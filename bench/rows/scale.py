"""The same with more rows, processes or endpoints. Each beside itself at the smaller size."""

from bench.cores import ALL, LOAD_CORES, SERVED, cpu_seconds, pin_tree
from bench.load import finish, sample_of
from bench.measure import Line, Measure, Outcome, Plan, Ratio, Sample, interleaved
from bench.outbox import relaying_elsewhere
from bench.rows.booking import Bookings
from bench.rows.webhooks import delivering, subscribe
from bench.stage import Stage
from bench.studios import MANY_ENDPOINTS, READING, TOLD, WRITING
from bench.system import System

ROW, ENDPOINTS_ROW = "scale", "endpoints"
FEW, MANY = 10, 10_000


def run(stage: Stage, plan: Plan) -> Outcome:
    short = Plan(rounds=min(3, plan.rounds), seconds=plan.seconds, quick=plan.quick)
    parts = [rows(stage, short), processes(stage, short)]
    return Outcome(
        lines=[line for part in parts for line in part.lines],
        ratios=[ratio for part in parts for ratio in part.ratios],
    )


def rows(stage: Stage, plan: Plan) -> Outcome:
    large = stage.large_studio
    five = stage.system
    key = stage.keys[large.name]
    classes = f"{five.partner_url}/classes?limit=50"
    first, last = large.class_id(1), large.class_id(large.classes - 100)
    pages: dict[str, Measure] = {
        "page of 1,000 rows": stage.load(classes, key=stage.keys[READING.name], served_by=five.chain).run,
        "page after row 1 of 1,000,000": stage.load(
            f"{classes}&cursor={first}", key=key, served_by=five.chain
        ).run,
        "page after row 999,900": stage.load(f"{classes}&cursor={last}", key=key, served_by=five.chain).run,
    }
    read = interleaved(f"{ROW}: rows, read", pages, plan)
    # Other numbers than the write row's, which has used up the first ones of this studio.
    writes: dict[str, Measure] = {
        "1,000 classes": Bookings(stage, WRITING, first=300).ours(five, stage.keys[WRITING.name]),
        "1,000,000 classes": Bookings(stage, large).ours(five, key),
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


def processes(stage: Stage, plan: Plan) -> Outcome:
    """Gateway and bookings once and twice, on all cores together with Postgres and the load."""
    five = stage.system
    second = System(stage.home("second"), five.database_url, amqp_url=stage.rabbit.url, secrets_of=five)
    try:
        behind = {name: f"http://127.0.0.1:{five.ports[name]}" for name in ("catalog", "forms", "webhooks")}
        second.serve(["gateway", "bookings"], urls=behind, cores=ALL)
        spread_out = [stage.postgres_pid, *(process.pid for process in five.processes.values())]
        for pid in spread_out:
            pin_tree(pid, ALL)
        key = stage.keys[READING.name]
        found = interleaved(
            f"{ROW}: processes, read",
            {
                "1 gateway, 1 bookings": _reading(stage, [five], key),
                "2 gateways, 2 bookings": _reading(stage, [five, second], key),
            },
            plan,
        )
    finally:
        second.stop()
        pin_tree(stage.postgres_pid, LOAD_CORES)
        for process in five.processes.values():
            pin_tree(process.pid, SERVED)
    one, two = (line.median for line in found.values())
    return Outcome(
        lines=list(found.values()),
        ratios=[
            Ratio(row=ROW, text=f"2 processes of each, of 1, on {len(ALL)} cores in all", value=two / one)
        ],
    )


def _reading(stage: Stage, systems: list[System], key: str) -> Measure:
    loads = [
        stage.load(
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


def run_endpoints(stage: Stage, plan: Plan) -> Outcome:
    """As many deliveries each: few endpoints with many, and many with a single one."""
    five = stage.system
    most = MANY // 10 if plan.quick else MANY
    few, many = stage.keys[TOLD.name], stage.keys[MANY_ENDPOINTS.name]
    subscribe(stage, five, few, TOLD, FEW)
    subscribe(stage, five, many, MANY_ENDPOINTS, most)
    found: dict[str, Line] = interleaved(
        ENDPOINTS_ROW,
        {
            f"{FEW} endpoints": delivering(five, TOLD, few, most // FEW, FEW),
            f"{most:,} endpoints": delivering(five, MANY_ENDPOINTS, many, 1, most),
        },
        Plan(rounds=min(3, plan.rounds), seconds=plan.seconds, quick=plan.quick),
        unit="deliveries/s",
    )
    rate_of_few, rate_of_many = (line.median for line in found.values())
    return Outcome(
        lines=list(found.values()),
        ratios=[
            Ratio(
                row=ENDPOINTS_ROW,
                text=f"deliveries to {most:,} endpoints, of {FEW}",
                value=rate_of_many / rate_of_few,
                must=0.7,
                aim=0.8,
            )
        ],
    )


def _cost(text: str, value: float, must: float | None = None, aim: float | None = None) -> Ratio:
    return Ratio(row=ROW, text=text, value=value, unit="x", must=must, aim=aim, less_is_better=True)
