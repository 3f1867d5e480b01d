"""python -m bench.compare --against REV: an older commit against this tree. Fails if a row is worse."""

import argparse
import signal
import sys

from bench.compare.checkout import checked_out, described, described_tree, this_tree
from bench.compare.progress import Progress
from bench.compare.rounds import Comparison, Pair, measure_row
from bench.compare.rows import GROUPS, MEMORY, ROWS, Row
from bench.compare.side import Side
from bench.compare.table import summary, table
from bench.measure import Sample
from bench.problem import BenchProblem
from bench.report import machine
from bench.testbed import Testbed
from bench.tools import have_tools
from shared.servers.problem import ServerProblem


def main() -> int:
    given = parsed()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up on SIGTERM as well
    try:
        return compare(given)
    except (BenchProblem, ServerProblem) as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def compare(given: argparse.Namespace) -> int:
    rows = [ROWS[name] for name in ROWS if name in given.rows]
    planned = {row.name: (row.takes or given.seconds + 0.2) * 2 * (given.rounds + 1) for row in rows}
    progress = Progress(planned, given.minutes)
    print(f"old: {described(given.against)}\nnew: {described_tree()}", file=sys.stderr, flush=True)
    with (
        Testbed(have_tools(peers=False)) as testbed,
        checked_out(given.against, testbed.folder) as old,
        this_tree(testbed.folder) as new,
    ):
        about = machine(testbed.postgres.origin.split(" (")[0])
        testbed.rabbit.add_vhosts(["old", "new"])
        sides = [Side("old", old, testbed), Side("new", new, testbed)]
        for side in sides:
            progress.say(f"filling the database of the {side.name} side")
            side.furnish()
        found: list[Comparison] = []
        for group in GROUPS:
            if wanted := [row for row in rows if row.group == group]:
                found += measure_group(group, wanted, sides, given, progress)
    if sides[0].memory:
        found += memory(sides)
    print("; ".join(f"{name}: {value}" for name, value in about.items()), end="\n\n")
    print(table(found), end="\n\n")
    print(summary(found, cut_short=progress.cut_short))
    return 1 if progress.cut_short or any(row.is_worse for row in found) else 0


def measure_group(
    group: str, rows: list[Row], sides: list[Side], given: argparse.Namespace, progress: Progress
) -> list[Comparison]:
    found = []
    try:
        for side in sides:
            side.start(group)
        for row in rows:
            comparison = Comparison(name=row.name, unit=row.unit, less_is_better=row.less_is_better)
            measures = {side.name: row.make(side) for side in sides}
            measure_row(
                comparison,
                measures,
                rounds=given.rounds,
                seconds=given.seconds,
                may_go_on=progress.may_go_on,
            )
            progress.finished(comparison)
            found.append(comparison)
    finally:
        for side in sides:
            side.stop(group)
    return found


def memory(sides: list[Side]) -> list[Comparison]:
    """Memory of each process after its rows: one figure, because a process has no rounds."""
    old, new = (side.memory for side in sides)
    return [
        Comparison(
            name=f"memory, {name}",
            unit="MB resident",
            less_is_better=True,
            pairs=[Pair(Sample(rate=old[name]), Sample(rate=new[name]))],
        )
        for name in MEMORY
    ]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("--against", required=True, metavar="REV", help="the older commit")
    parser.add_argument("--rows", type=_rows, default=list(ROWS), help=f"some of {','.join(ROWS)}")
    parser.add_argument("--rounds", type=int, default=15, help="pairs of rounds for each row (15)")
    parser.add_argument("--seconds", type=int, default=1, help="whole seconds for each round (1)")
    parser.add_argument("--minutes", type=float, default=25.0, help="at most so long in all (25)")
    return parser.parse_args()


def _rows(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in ROWS]:
        raise argparse.ArgumentTypeError(f"there is no row {', '.join(unknown)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
