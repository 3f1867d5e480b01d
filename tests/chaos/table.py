"""The results as a table, for a terminal and for docs/reliability.md."""

import os
import platform
from collections.abc import Sequence

from tests.chaos.rounds import Result

BEGIN, END = "<!-- make chaos: begin -->", "<!-- make chaos: end -->"
FINDINGS = ("lost", "duplicated", "corrupted", "stuck", "500s", "no answer")
COLUMNS = ("group", "fault", "rounds", "acknowledged", *FINDINGS, "recovered, median", "slowest")


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One per fault, in the order of their first round, and the sum of all."""
    names = dict.fromkeys((result.group, result.fault) for result in results)
    table = [
        _row(*name, [result for result in results if (result.group, result.fault) == name]) for name in names
    ]
    return [*table, _row("all", "", list(results))]


def _row(group: str, fault: str, results: list[Result]) -> tuple[str, ...]:
    times = sorted(result.recovered for result in results)
    counts = (
        len(results),
        sum(result.acknowledged for result in results),
        sum(len(result.findings.lost) for result in results),
        sum(len(result.findings.duplicated) for result in results),
        sum(len(result.findings.corrupted) for result in results),
        sum(len(result.findings.stuck) + len(result.defects.given_up) for result in results),
        sum(len(result.defects.wrong_statuses) for result in results),
        sum(len(result.defects.unanswered) for result in results),
    )
    seconds = (f"{times[len(times) // 2]:.1f} s", f"{times[-1]:.1f} s") if times else ("", "")
    return group, fault, *(f"{count:,}" for count in counts), *seconds


def plain(results: Sequence[Result]) -> str:
    lines = [COLUMNS, ("---", "---", *["---:"] * (len(COLUMNS) - 2)), *rows(results)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown(
    results: Sequence[Result], *, command: str, minutes: float, stolen: str, notes: Sequence[str]
) -> str:
    python = platform.python_version()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, Python {python}"
    if stolen:
        machine += f" ({stolen} of its time stolen by other virtual machines)"
    listed = "".join(f"- {note}\n" for note in notes)
    return f"{command}, {minutes:.0f} minutes, on {machine}:\n\n{plain(results)}\n\n{listed}".rstrip() + "\n"


def written_into(document: str, table: str) -> str:
    """The document with the table between its two markers, or the table alone if it has none."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n{table}{end}{after}" if begin and end else table
