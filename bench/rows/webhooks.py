"""Events from commit to a partner's server: throughput, and latency on an idle system."""

import json
import statistics
import subprocess
import sys
import time
from datetime import datetime

from bench.children import ROOT
from bench.cores import SERVED, cpu_seconds, starting_on
from bench.events import copy_endpoint, deliver
from bench.measure import Line, Measure, Outcome, Plan, Ratio, Sample, interleaved
from bench.partner import Receiver, post
from bench.studios import MEMBERS, TOLD, WRITING, Studio
from bench.system import System
from bench.testbed import Testbed

ROW = "webhooks"
ENDPOINTS = 10
KIND = "booking.created"


def run(testbed: Testbed, plan: Plan) -> Outcome:
    five = testbed.system
    subscribe(testbed, five, testbed.keys[TOLD.name], TOLD, ENDPOINTS)
    events = 100 if plan.quick else 500
    found = interleaved(
        ROW,
        {
            "ours: delivered, signed, logged": delivering(
                five, TOLD, testbed.keys[TOLD.name], events, ENDPOINTS
            ),
            "raw signed posts, the same client": raw_posts(f"{testbed.nginx.url}/hook", events * ENDPOINTS),
        },
        plan,
        unit="deliveries/s",
    )
    ours, floor = (line.median for line in found.values())
    soon = [
        *receipt(testbed, five, testbed.keys, "our services", plan),
        *receipt(testbed, testbed.one_process, testbed.up_keys, "our `up`", plan),
    ]
    five_ms = [sample.rate for sample in soon[0].samples]
    cut = statistics.quantiles(five_ms, n=100)
    return Outcome(
        lines=[*found.values(), *soon],
        ratios=[
            Ratio(
                row=ROW,
                text="of raw signed posts with the same client",
                value=ours / floor,
                must=0.5,
                aim=0.7,
            ),
            _soon("commit to receipt, idle, p50", statistics.median(five_ms), 15, 8),
            _soon("commit to receipt, idle, p99", cut[98], 60, 25),
        ],
    )


def _soon(text: str, value: float, must: float, aim: float) -> Ratio:
    return Ratio(row=ROW, text=text, value=value, unit="ms", must=must, aim=aim, less_is_better=True)


def subscribe(testbed: Testbed, system: System, key: str, studio: Studio, endpoints: int) -> None:
    """Once per studio, by the first row that needs it."""
    if studio.name in testbed.subscribed:
        return
    testbed.subscribed.add(studio.name)
    body = {"url": f"{testbed.nginx.url}/hook", "event_types": [KIND]}
    post(f"{system.partner_url}/webhook-endpoints", key, body)
    copy_endpoint(system, studio, endpoints)


def delivering(system: System, studio: Studio, key: str, events: int, endpoints: int) -> Measure:
    """Measured by count, not by time: all deliveries must arrive."""

    def measure(_: float) -> Sample:
        pids = [system.processes[name].pid for name in ("bookings", "webhooks")]
        before = cpu_seconds(pids)
        rate = deliver(system, studio, key, events=events, endpoints=endpoints)
        return Sample(rate=rate, cpu_us=(cpu_seconds(pids) - before) / (events * endpoints) * 1e6)

    return measure


def raw_posts(url: str, count: int) -> Measure:
    def measure(_: float) -> Sample:
        words = [sys.executable, "-m", "bench.raw_posts", url, str(count)]
        with starting_on(SERVED):
            done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
        return Sample(rate=float(done.stdout))

    return measure


def receipt(testbed: Testbed, system: System, keys: dict[str, str], name: str, plan: Plan) -> list[Line]:
    """Single bookings on an idle system; a sample is the milliseconds of one event. The whole first."""
    key = keys[WRITING.name]
    receiver = Receiver()
    try:
        endpoint = {"url": receiver.url, "event_types": [KIND]}
        post(f"{system.partner_url}/webhook-endpoints", key, endpoint)
        for number in range(40 if plan.quick else 200):
            body = {"class_id": WRITING.class_id(1 + number), "member_id": WRITING.member_id(MEMBERS)}
            run = f"idle-{name}-{number}"
            post(f"{system.partner_url}/bookings", key, body, **{"Idempotency-Key": f"bench-{run}"})
            receiver.wait_for(number + 1)
            time.sleep(0.03)
    finally:
        receiver.close()
    stages = {name: receiver.delays_ms[3:]} | {
        f"{name}: {stage}": delays for stage, delays in _stages(system, receiver.created).items()
    }
    return [
        Line(row="commit to receipt", name=text, unit="ms", samples=[Sample(rate=delay) for delay in delays])
        for text, delays in stages.items()
    ]


STAGES = {"event_published": "read by the relay", "event_logged": "logged, first attempt begun"}


def _stages(system: System, created: dict[str, float]) -> dict[str, list[float]]:
    """Milliseconds after `created_at`, from the log lines of the services."""
    found: dict[str, list[float]] = {stage: [] for stage in STAGES.values()}
    for log in {process.log for process in system.processes.values()}:
        with log.open(errors="replace") as lines:
            told = [json.loads(text) for text in lines if any(f'"{event}"' in text for event in STAGES)]
        for line in told:
            if (made := created.get(line["event_id"])) is not None:
                at = datetime.fromisoformat(line["timestamp"]).timestamp()
                found[STAGES[line["event"]]].append((at - made) * 1000)
    return {stage: delays for stage, delays in found.items() if delays}
