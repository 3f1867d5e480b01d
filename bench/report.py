"""The table on stdout, the same figures as JSON, and a plot."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from bench.children import ROOT
from bench.cores import ALL, CAN_PIN
from bench.measure import Line, Outcome, Ratio
from bench.tools import Tools

RESULTS = ROOT / "bench" / "results"


def machine(postgres: str) -> dict[str, str]:
    model = next(
        (line.split(":", 1)[1].strip() for line in _output("lscpu") if line.startswith("Model name")),
        "unknown",
    )
    memory = next((line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), "0")
    return {
        "processor": f"{len(ALL)} × {model}, {platform.machine()}, {_features()}",
        "memory": f"{int(memory) // 1024 // 1024} GB",
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "postgres": postgres,
        "load before": f"{os.getloadavg()[0]:.2f}",
        "pinned": "one core each" if CAN_PIN and len(ALL) > 1 else "no",
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _features() -> str:
    """Instructions that decide what a digest and a signature cost."""
    found = next(
        (line.split() for line in _lines("/proc/cpuinfo") if line.startswith(("flags", "Features"))), []
    )
    sha = "with" if {"sha_ni", "sha2"} & set(found) else "without"
    wide = ", with AVX2" if "avx2" in found else ""
    return f"{sha} SHA instructions{wide}"


def table(outcome: Outcome, about: dict[str, str], minutes: float) -> str:
    shown = [f"{name}: {value}" for name, value in about.items()]
    parts = [
        "; ".join(shown) + f"; took {minutes:.1f} min",
        "",
        *_targets(outcome.ratios),
        "",
        *_lines_of(outcome),
    ]
    return "\n".join(parts)


def _targets(ratios: list[Ratio]) -> list[str]:
    head = ["| Row | Measured | | Must | Aim | |", "|---|---|---|---|---|---|"]
    return head + [
        f"| {r.row} | {r.text} | **{figure(r.value)}{_unit(r)}** "
        f"| {_target(r, r.must)} | {_target(r, r.aim)} | {r.verdict} |"
        for r in ratios
    ]


def _lines_of(outcome: Outcome) -> list[str]:
    head = [
        "| Row | What | median | lowest to highest | unit | p50 ms | p99 ms | CPU µs each |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return head + [_line(line) for line in outcome.lines]


def _line(line: Line) -> str:
    low, high = line.spread
    extra = (line.middle(field) for field in ("p50_ms", "p99_ms", "cpu_us"))
    cells = [line.row, line.name, figure(line.median), f"{figure(low)} to {figure(high)}", line.unit]
    return "| " + " | ".join(cells + ["" if value is None else figure(value) for value in extra]) + " |"


def figure(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _unit(ratio: Ratio) -> str:
    return f" {ratio.unit}" if ratio.unit else ""


def _target(ratio: Ratio, value: float | None) -> str:
    if value is None:
        return ""
    return f"{'≤' if ratio.less_is_better else '≥'} {value:g}{_unit(ratio)}"


def keep(outcome: Outcome, about: dict[str, str], tools: Tools) -> Path:
    """`bench/results/<when>.json` and `.png`; the peers' Python draws the plot, because it has matplotlib."""
    RESULTS.mkdir(exist_ok=True)
    name = about["at"].replace(":", "").replace("+0000", "Z")
    path = RESULTS / f"{name}.json"
    everything = {"machine": about, **msgspec.to_builtins(outcome)}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(everything)))
    drawn = subprocess.run(
        [tools.peers_python, str(ROOT / "bench" / "plot.py"), str(path), str(path.with_suffix(".png"))],
        capture_output=True,
        text=True,
    )
    if drawn.returncode != 0:
        print(f"The plot could not be drawn: {drawn.stderr[-300:]}")
    return path


def _output(*words: str) -> list[str]:
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
    except OSError:
        return []


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
