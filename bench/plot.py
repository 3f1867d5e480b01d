"""python plot.py RESULTS.json OUT.png: every row's medians as bars, with the lowest and highest round."""

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OTHERS = ("nginx", "FastAPI", "pgbench", "raw", "the backend")


def draw(results: dict[str, Any], out: str) -> None:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in results["lines"]:
        rows[f"{line['row']} ({line['unit']})"].append(line)
    heights = [0.6 + 0.38 * len(lines) for lines in rows.values()]
    figure, axes = plt.subplots(
        len(rows), 1, figsize=(10, sum(heights)), height_ratios=heights, squeeze=False, layout="constrained"
    )
    for axis, (title, lines) in zip(axes[:, 0], rows.items(), strict=True):
        rates = [[sample["rate"] for sample in line["samples"]] for line in lines]
        middles = [statistics.median(found) for found in rates]
        reach = [
            [middle - min(found) for middle, found in zip(middles, rates, strict=True)],
            [max(found) - middle for middle, found in zip(middles, rates, strict=True)],
        ]
        names = [line["name"] for line in lines]
        colours = ["#adb5bd" if name.startswith(OTHERS) else "#2a6f97" for name in names]
        axis.barh(names, middles, xerr=reach, color=colours, ecolor="#495057", capsize=3)
        axis.invert_yaxis()
        axis.set_title(title, loc="left", fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
        axis.margins(x=0.12)
        for place, middle in enumerate(middles):
            axis.annotate(
                f"{middle:,.0f}" if middle >= 100 else f"{middle:.2f}",
                (middle, place),
                xytext=(6, -9),
                textcoords="offset points",
                fontsize=7,
            )
    machine = results["machine"]
    figure.suptitle(f"{machine['processor']}, {machine['at']}", fontsize=8, x=0.01, ha="left")
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])
