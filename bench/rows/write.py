"""Bookings, spread over the classes of a studio, through gateway and service."""

from bench.children import ROOT
from bench.measure import Outcome, Plan, Ratio, interleaved
from bench.outbox import relaying_elsewhere
from bench.pgbench import Pgbench, book_script
from bench.rows.booking import Bookings
from bench.studios import WRITING, execute, value_of
from bench.testbed import Testbed

ROW, HOT_ROW = "write", "contention"
OURS, ONE, FLOOR = "our services", "our `up`", "pgbench, one statement"
USUAL, RELAYING = "FastAPI + SQLAlchemy, no gateway", "our services, with relay and event log running"
FUNCTION = "SELECT count(*) FROM pg_proc WHERE proname = 'bench_book'"


def run(testbed: Testbed, plan: Plan) -> Outcome:
    return _compare(testbed, plan, ROW, Bookings(testbed, WRITING))


def run_contention(testbed: Testbed, plan: Plan) -> Outcome:
    return _compare(testbed, plan, HOT_ROW, Bookings(testbed, WRITING, hot=True))


def _compare(testbed: Testbed, plan: Plan, row: str, bookings: Bookings) -> Outcome:
    five, one = testbed.system, testbed.one_process
    usual = testbed.fastapi_studio
    floor = floor_of(testbed)
    key = testbed.keys[WRITING.name]
    contestants = {
        OURS: bookings.ours(five, key),
        FLOOR: bookings.floor(floor),
        USUAL: bookings.usual(usual.words[-1], usual.pid),
    }
    # The baseline and the peer relay nothing either. The webhooks row measures what follows the commit.
    with relaying_elsewhere(five.database_url), relaying_elsewhere(one.database_url):
        found = interleaved(row, contestants | {ONE: bookings.ours(one, testbed.up_keys[WRITING.name])}, plan)
    if not bookings.hot:
        found |= interleaved(row, {RELAYING: bookings.ours(five, key)}, plan)
    base = found[FLOOR].median
    must, aim = (2.0, 2.5) if bookings.hot else (0.85, 1.1)
    ours = found[OURS].median
    ratios = [
        Ratio(row=row, text="of pgbench", value=ours / base, must=must, aim=aim),
        Ratio(row=row, text="`up`, of pgbench", value=found[ONE].median / base),
    ]
    against = Ratio(row=row, text="against FastAPI + SQLAlchemy", value=ours / found[USUAL].median)
    if not bookings.hot:
        against = Ratio(
            row=row, text="against FastAPI + SQLAlchemy", value=ours / found[USUAL].median, must=8, aim=12
        )
        ratios.append(
            Ratio(
                row=row,
                text="with relay and event log running, of pgbench",
                value=found[RELAYING].median / base,
                must=0.5,
                aim=0.65,
            )
        )
    return Outcome(lines=list(found.values()), ratios=[ratios[0], against, *ratios[1:]])


def floor_of(testbed: Testbed) -> Pgbench:
    url = testbed.system.database_url
    if not value_of(url, FUNCTION):
        execute(url, (ROOT / "bench" / "scripts" / "floor.sql").read_text())
    return Pgbench(testbed.tools.pgbench, url, book_script(WRITING), testbed.folder)
