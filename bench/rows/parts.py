"""Hand-written parts compared with a library: CPU time per use, and the ratio."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

import msgspec

from bench.children import ROOT, Process
from bench.cores import SERVED, starting_on
from bench.measure import Line, Measure, Outcome, Plan, Ratio, Sample, interleaved
from bench.problem import BenchProblem
from bench.studios import READING
from bench.system import System
from bench.testbed import Testbed
from shared.servers.ports import free_port

ROW = "parts"
WINS = 1.3
"""What does not win as much is replaced by the library."""
OURS, CLIENTS = "our client", ("aiohttp", "pyreqwest")
SERVERS = ("ours", "granian", "uvicorn")
BEHIND = ("catalog", "bookings", "forms", "webhooks")


def run(testbed: Testbed, plan: Plan) -> Outcome:
    rounds = 5 if plan.quick else max(15, plan.rounds)
    parts = [
        servers(testbed, plan, connections=64),
        servers(testbed, plan, connections=1),
        clients(testbed, plan),
        counted("connections", ["bench.parts.pools", testbed.system.database_url], rounds),
    ]
    return Outcome(
        lines=[line for part in parts for line in part.lines],
        ratios=[ratio for part in parts for ratio in part.ratios],
    )


def servers(testbed: Testbed, plan: Plan, *, connections: int) -> Outcome:
    """A constant answer. The ratios are of CPU time, and without a must: record 0027 says why."""
    row, running = f"{ROW}: server, {connections} connections", list[Process]()
    measures: dict[str, Measure] = {}
    try:
        for name in SERVERS:
            port = free_port()
            words = [sys.executable, "-m", "bench.parts.server", name, str(port)]
            environment = {**os.environ, "BENCH_PACKAGES": packages(testbed)}
            log = testbed.folder / f"server-{name}.log"
            running.append(process := Process(words, log=log, cores=SERVED, environment=environment))
            url = f"http://127.0.0.1:{port}/"
            process.wait_ready(url)
            load = testbed.load(url, key="none", served_by=[process.pid], connections=connections)
            measures[name] = load.run
        found = interleaved(row, measures, plan)
    finally:
        for process in running:
            process.stop()
    own, *others = (found[name].middle("cpu_us") or 0 for name in SERVERS)
    return Outcome(
        lines=list(found.values()),
        ratios=[
            Ratio(row=ROW, text=f"{row[7:]}: CPU of {name} of ours", value=other / own, unit="x")
            for name, other in zip(SERVERS[1:], others, strict=True)
        ],
    )


def clients(testbed: Testbed, plan: Plan) -> Outcome:
    """The gateway hop with three HTTP clients. The ratios are of CPU time."""
    five = testbed.system
    urls = dict.fromkeys(BEHIND, testbed.nginx.url)
    gateways = {
        name: System(testbed.home(f"hop-{name}"), five.database_url, secrets_of=five) for name in CLIENTS
    }
    ours = System(testbed.home("hop-ours"), five.database_url, secrets_of=five)
    running: list[Process] = []
    try:
        ours.serve(["gateway"], urls=urls)
        measures = {OURS: _hop(testbed, ours.partner_url, ours.pids("gateway"))}
        for name, system in gateways.items():
            process = system.serve_gateway_of(
                [sys.executable, "-m", "bench.parts.gateway", name],
                urls,
                {"BENCH_PACKAGES": packages(testbed)},
            )
            running.append(process)
            measures[f"the same with {name}"] = _hop(testbed, system.partner_url, [process.pid])
        found = interleaved(f"{ROW}: gateway hop", measures, plan)
    finally:
        ours.stop()
        for process in running:
            process.stop()
    own, *others = (line.middle("cpu_us") or 0 for line in found.values())
    return Outcome(
        lines=list(found.values()),
        ratios=[
            Ratio(row=ROW, text=f"hop, CPU with {name} of ours", value=other / own, unit="x", must=WINS)
            for name, other in zip(CLIENTS, others, strict=True)
        ],
    )


def _hop(testbed: Testbed, partner_url: str, pids: list[int]) -> Measure:
    return testbed.load(f"{partner_url}/studio", key=testbed.keys[READING.name], served_by=pids).run


def packages(testbed: Testbed) -> str:
    """The peers' package folder: it has the client that we do not use."""
    found = [
        str(path) for path in Path(testbed.tools.peers_python).parent.parent.glob("lib/python*/site-packages")
    ]
    if not found:
        raise BenchProblem("The peers' packages are not where they were installed.")
    return found[0]


def counted(what: str, words: list[str], rounds: int) -> Outcome:
    """Runs a process that measures its own CPU time and prints it. The first result is ours."""
    with starting_on(SERVED):
        done = subprocess.run(
            [sys.executable, "-m", *words, str(rounds)], capture_output=True, text=True, cwd=ROOT
        )
    if done.returncode != 0:
        raise BenchProblem(f"{' '.join(words[:1])} failed:\n{done.stderr[-1500:]}")
    found = msgspec.json.decode(done.stdout.splitlines()[-1], type=dict[str, dict[str, list[float]]])
    outcome = Outcome()
    for job, ways in found.items():
        for name, costs in ways.items():
            samples = [Sample(rate=cost) for cost in costs]
            outcome.lines.append(
                Line(row=f"{ROW}: {what}, {job}", name=name, unit="CPU µs each", samples=samples)
            )
        own, *others = ((name, statistics.median(costs)) for name, costs in ways.items())
        outcome.ratios += [
            Ratio(row=ROW, text=f"{what}, {job}: {name} of ours", value=cost / own[1], unit="x", must=WINS)
            for name, cost in others
        ]
    return outcome
