"""The printed table and the overall verdict."""

from bench.compare.rounds import WORSE, Comparison
from bench.report import figure

HEAD = [
    "| Row | unit | old | new | new of old | middle half | CPU of old | rounds | |",
    "|---|---|---|---|---|---|---|---|---|",
]


def table(rows: list[Comparison]) -> str:
    return "\n".join([*HEAD, *map(_line, rows)])


def _line(row: Comparison) -> str:
    low, high = row.spread
    cpu = f"{row.cpu_ratio:.3f}" if row.cpu_ratio else ""
    verdict = "worse" if row.is_worse else ""
    cells = [
        row.name,
        row.unit,
        figure(row.middle("old")),
        figure(row.middle("new")),
        f"**{row.ratio:.3f}**",
        f"{low:.3f} to {high:.3f}",
        cpu,
        str(len(row.pairs)),
        verdict,
    ]
    return f"| {' | '.join(cells)} |"


def summary(rows: list[Comparison], *, cut_short: bool) -> str:
    lines = ["Ratios over 1 are better, below 1 worse, for costs too."]
    if worse := [row.name for row in rows if row.is_worse]:
        lines.append(f"Worse by more than {1 - WORSE:.0%}: {', '.join(worse)}.")
    else:
        lines.append(f"No row is worse by more than {1 - WORSE:.0%}.")
    if cut_short:
        lines.append("The time was up before every round was taken: see the column of rounds.")
    return "\n".join(lines)
