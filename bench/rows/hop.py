"""The gateway hop: a GET through the gateway to a constant backend."""

from bench.cores import SERVED
from bench.measure import Measure, Outcome, Plan, Ratio, interleaved
from bench.nginx import Nginx
from bench.studios import READING
from bench.system import System
from bench.testbed import Testbed

ROW = "gateway hop"
OURS, PROXY, CHECKED, USUAL = "our gateway", "nginx proxy", "nginx auth_request", "FastAPI + httpx"
BEHIND = ("catalog", "bookings", "forms", "webhooks")


def run(testbed: Testbed, plan: Plan) -> Outcome:
    five = testbed.system
    key = testbed.keys[READING.name]
    backend = testbed.nginx
    gateway = System(testbed.home("hop"), five.database_url, secrets_of=five)
    front = Nginx(testbed.tools.nginx, testbed.home("front"), cores=SERVED, backend=backend.port)
    try:
        gateway.serve(["gateway"], urls=dict.fromkeys(BEHIND, backend.url))
        usual = testbed.peer("fastapi_gateway", {"PEER_KEY": key, "PEER_BACKEND": backend.url})
        ways = {
            OURS: (f"{gateway.partner_url}/studio", [gateway.processes["gateway"].pid]),
            PROXY: (f"{front.url}/plain/studio", front.pids),
            CHECKED: (f"{front.url}/checked/studio", front.pids),
            USUAL: (f"{usual.words[-1]}/partner/v1/studio", [usual.pid]),
        }

        def measures(connections: int) -> dict[str, Measure]:
            return {
                name: testbed.load(url, key=key, served_by=pids, connections=connections).run
                for name, (url, pids) in ways.items()
            }

        many = interleaved(ROW, measures(64), plan)
        direct: dict[str, Measure] = {
            "the backend itself": testbed.load(f"{backend.url}/studio", key=key, connections=1).run
        }
        alone = interleaved(f"{ROW}, 1 connection", measures(1) | direct, plan)
    finally:
        gateway.stop()
        front.stop()
    added = (alone[OURS].middle("p50_ms") or 0) - (alone["the backend itself"].middle("p50_ms") or 0)
    ours = many[OURS].median
    return Outcome(
        lines=[*many.values(), *alone.values()],
        ratios=[
            Ratio(
                row=ROW,
                text="of nginx with auth_request",
                value=ours / many[CHECKED].median,
                must=0.38,
                aim=0.5,
            ),
            Ratio(row=ROW, text="against FastAPI + httpx", value=ours / many[USUAL].median, must=30, aim=45),
            Ratio(row=ROW, text="of nginx proxying only", value=ours / many[PROXY].median),
            Ratio(
                row=ROW,
                text="added to p50 with 1 connection",
                value=added,
                unit="ms",
                must=0.5,
                aim=0.3,
                less_is_better=True,
            ),
        ],
    )
