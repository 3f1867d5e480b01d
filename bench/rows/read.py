"""A page of 50 classes through gateway and service, warm."""

from bench.measure import Line, Outcome, Plan, Ratio, interleaved
from bench.partner import entity_tag
from bench.pgbench import Pgbench, own_page_script, plain_page_script
from bench.studios import READING
from bench.testbed import Testbed

ROW = "read"
OURS, UNCHANGED, ONE, FLOOR, OWN, USUAL = (
    "our services",
    "our services, page unchanged (304)",
    "our `up`",
    "pgbench, the plain statement",
    "pgbench, our statement",
    "FastAPI + SQLAlchemy, no gateway",
)


def run(testbed: Testbed, plan: Plan) -> Outcome:
    five, one = testbed.system, testbed.one_process
    usual = testbed.fastapi_studio
    target = "/classes?limit=50"
    url, key = five.partner_url + target, testbed.keys[READING.name]
    ours = testbed.load(url, key=key, served_by=five.chain)
    unchanged = testbed.load(url, key=key, served_by=five.chain, tag=entity_tag(url, key))
    floor, own = (
        Pgbench(testbed.tools.pgbench, five.database_url, script(READING), testbed.folder)
        for script in (plain_page_script, own_page_script)
    )
    found = interleaved(
        ROW,
        {
            OURS: ours.run,
            UNCHANGED: unchanged.run,
            ONE: testbed.load(
                one.partner_url + target, key=testbed.up_keys[READING.name], served_by=one.chain
            ).run,
            FLOOR: floor.run,
            OWN: own.run,
            USUAL: testbed.load(usual.words[-1] + target, key=READING.id, served_by=[usual.pid]).run,
        },
        plan,
    )
    peak = found[OURS].median
    calm = Line(
        row=ROW,
        name="our services at 70 % of their peak",
        unit="requests/s",
        samples=[ours.run(plan.seconds * 2, BENCH_THINK_MS=think_ms(peak, found[OURS])) for _ in range(3)],
    )
    tail = (calm.middle("p99_ms") or 0) / (calm.middle("p50_ms") or 1)
    return Outcome(
        lines=[*found.values(), calm],
        ratios=[
            Ratio(row=ROW, text="of pgbench", value=peak / found[FLOOR].median, must=0.35, aim=0.5),
            Ratio(
                row=ROW,
                text="against FastAPI + SQLAlchemy",
                value=peak / found[USUAL].median,
                must=5,
                aim=8,
            ),
            Ratio(
                row=ROW,
                text="CPU of an unchanged page (304), of a full one",
                value=(found[UNCHANGED].middle("cpu_us") or 0) / (found[OURS].middle("cpu_us") or 1),
                less_is_better=True,
            ),
            Ratio(row=ROW, text="`up`, of pgbench", value=found[ONE].median / found[FLOOR].median),
            Ratio(row=ROW, text="of pgbench with our statement", value=peak / found[OWN].median),
            Ratio(
                row=ROW,
                text="p99 at 70 % of peak, of p50",
                value=tail,
                must=4,
                aim=2.5,
                less_is_better=True,
            ),
        ],
    )


def think_ms(peak: float, line: Line) -> str:
    """The pause with which 64 connections offer 70 % of the peak, with answers in a few milliseconds."""
    return f"{64 / (0.7 * peak) * 1000 - 2.0:.3f}"
