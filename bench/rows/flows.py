"""Hold and confirm, and moves, through gateway and service."""

from itertools import count
from urllib.parse import urlparse

from msgspec.structs import replace

from bench.children import ROOT
from bench.measure import Measure, Outcome, Plan, Ratio, Sample, interleaved
from bench.outbox import relaying_elsewhere
from bench.pgbench import CLIENTS, Pgbench
from bench.rows.booking import SHARE
from bench.studios import HOLDING, MEMBERS, Studio, execute, value_of
from bench.testbed import Testbed

OURS, FLOOR = "our services", "pgbench, one function for each request"
FUNCTION = "SELECT count(*) FROM pg_proc WHERE proname = 'bench_move'"
NEXT = """
\\set i :i + 1
\\set n :first + :i * {clients} + :client_id
\\set m 1 + :n % {members}
"""
HOLD = """
\\set c 1 + :n % {classes}
SELECT bookings.bench_hold('{studio}',
    ('{head:08x}-0000-4000-8000-' || lpad(to_hex(:c::bigint), 12, '0'))::uuid,
    ('{head:08x}-0000-4000-9000-' || lpad(to_hex(:m::bigint), 12, '0'))::uuid,
    ('{head:08x}-0000-4000-c000-' || lpad(to_hex(:n::bigint), 12, '0'))::uuid, 'hold-' || (:n)::text);
SELECT bookings.bench_confirm('{studio}',
    ('{head:08x}-0000-4000-c000-' || lpad(to_hex(:n::bigint), 12, '0'))::uuid, 'confirm-' || (:n)::text);
"""
MOVE = """
\\set c 1 + (:m + 7 * (1 + :n / {members})) % {classes}
SELECT bookings.bench_move('{studio}',
    ('{head:08x}-0000-4000-b000-' || lpad(to_hex(:m::bigint), 12, '0'))::uuid,
    ('{head:08x}-0000-4000-8000-' || lpad(to_hex(:c::bigint), 12, '0'))::uuid, 'move-' || (:n)::text);
"""


def run_holds(testbed: Testbed, plan: Plan) -> Outcome:
    assert testbed.moving_studio
    # A transaction of pgbench is two requests.
    return _compare(testbed, plan, "holds", HOLDING, "hold.lua", NEXT + HOLD, requests=2)


def run_moves(testbed: Testbed, plan: Plan) -> Outcome:
    return _compare(testbed, plan, "moves", testbed.moving_studio, "move.lua", NEXT + MOVE)


def _compare(
    testbed: Testbed, plan: Plan, row: str, studio: Studio, lua: str, sql: str, *, requests: int = 1
) -> Outcome:
    system = testbed.system
    if not value_of(system.database_url, FUNCTION):
        execute(system.database_url, (ROOT / "bench" / "scripts" / "flows.sql").read_text())
    script = sql.format(
        clients=CLIENTS, members=MEMBERS, classes=studio.classes, studio=studio.id, head=studio.number
    )
    floor = Pgbench(testbed.tools.pgbench, system.database_url, script, testbed.folder)
    url = f"{system.partner_url}/bookings"
    load = testbed.load(
        url,
        key=testbed.keys[studio.name],
        script=lua,
        served_by=system.chain,
        studio=studio.number,
        members=MEMBERS,
        classes=studio.classes,
        path=urlparse(url).path,
    )
    shares = count()

    def ours(seconds: float) -> Sample:
        return load.run(seconds, BENCH_FIRST=str(next(shares) * SHARE))

    def theirs(seconds: float) -> Sample:
        found = floor.run(seconds, {"first": next(shares) * SHARE, "i": 0})
        latency = found.p50_ms / requests if found.p50_ms is not None else None
        return replace(found, rate=found.rate * requests, p50_ms=latency)

    contestants: dict[str, Measure] = {OURS: ours, FLOOR: theirs}
    with relaying_elsewhere(system.database_url):
        found = interleaved(row, contestants, plan)
    value = found[OURS].median / found[FLOOR].median
    return Outcome(lines=list(found.values()), ratios=[Ratio(row=row, text="of pgbench", value=value)])
