"""The load generator: wrk. A generator in Python would be slower than what it measures.

wrk takes whole seconds only.
"""

import os
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.cores import LOAD_CORES, cpu_seconds, starting_on
from bench.measure import Sample
from bench.problem import BenchProblem, NothingMeasured

SCRIPTS = Path(__file__).parent / "scripts"
CONNECTIONS = 64


class Summary(Struct):
    requests: int
    microseconds: int
    p50: int
    p99: int
    bad_status: int
    broken: int


class Load(Struct, frozen=True, kw_only=True):
    """A wrk run; `served_by` are the processes whose CPU time is counted."""

    wrk: str
    url: str
    script: str
    settings: Mapping[str, str]
    served_by: Collection[int] = ()
    connections: int = CONNECTIONS
    cores: Collection[int] = LOAD_CORES

    def run(self, seconds: float, **more: str) -> Sample:
        before = cpu_seconds(self.served_by)
        running = self.start(seconds, **more)
        summary = finish(running, self.url)
        used = cpu_seconds(self.served_by) - before
        return sample_of(summary, used if self.served_by else None)

    def start(self, seconds: float, **more: str) -> "subprocess.Popen[str]":
        words = [self.wrk, "-t1", f"-c{self.connections}", f"-d{max(1, round(seconds))}s", "--timeout", "10s"]
        words += ["-s", str(SCRIPTS / self.script), self.url]
        environment = {**os.environ, **self.settings, **more, "BENCH_SCRIPTS": str(SCRIPTS)}
        with starting_on(self.cores):
            return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)


def finish(running: "subprocess.Popen[str]", url: str) -> Summary:
    output, _ = running.communicate(timeout=120)
    try:
        summary = msgspec.json.decode(output.strip().splitlines()[-1], type=Summary)
    except (IndexError, msgspec.DecodeError):
        raise BenchProblem(f"wrk did not measure {url}:\n{output}") from None
    if not (summary.requests or summary.bad_status or summary.broken):
        raise NothingMeasured(f"{url}: no request was answered before the round was over.")
    if summary.bad_status or summary.broken:
        raise BenchProblem(
            f"{url}: of {summary.requests} requests {summary.bad_status} were refused and {summary.broken} "
            "broke. A rate of failures is not a speed."
        )
    return summary


def sample_of(summary: Summary, cpu: float | None) -> Sample:
    return Sample(
        rate=summary.requests / summary.microseconds * 1e6,
        p50_ms=summary.p50 / 1000,
        p99_ms=summary.p99 / 1000,
        cpu_us=cpu / summary.requests * 1e6 if cpu is not None else None,
    )
