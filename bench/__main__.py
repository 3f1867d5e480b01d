"""python -m bench [--quick] [--only ROW …]: all rows, in about half an hour."""

import argparse
import signal
import sys
import time
from collections.abc import Callable

import bench.rows.flows
import bench.rows.hop
import bench.rows.parts
import bench.rows.read
import bench.rows.replicas
import bench.rows.scale
import bench.rows.start
import bench.rows.webhooks
import bench.rows.write
from bench.compare.__main__ import main as compare
from bench.measure import Outcome, Plan
from bench.problem import BenchProblem
from bench.report import keep, machine, table
from bench.steal import Steal
from bench.testbed import Testbed
from bench.tools import have_tools
from shared.observability.log import set_up_logging
from shared.servers.problem import ServerProblem
from shared.settings import Settings

ROWS: dict[str, Callable[[Testbed, Plan], Outcome]] = {
    "hop": bench.rows.hop.run,
    "read": bench.rows.read.run,
    "write": bench.rows.write.run,
    "contention": bench.rows.write.run_contention,
    "holds": bench.rows.flows.run_holds,
    "moves": bench.rows.flows.run_moves,
    "webhooks": bench.rows.webhooks.run,
    "parts": bench.rows.parts.run,
    "endpoints": bench.rows.scale.run_endpoints,
    "replicas": bench.rows.replicas.run,
    "scale": bench.rows.scale.run,
    "start": bench.rows.start.run,
}


def main() -> int:
    if any(word.partition("=")[0] == "--against" for word in sys.argv[1:]):
        return compare()
    given = parsed()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up on SIGTERM as well
    plan = Plan(rounds=given.rounds or 5, seconds=given.seconds or 3.0)
    if given.quick:
        plan = Plan(rounds=given.rounds or 2, seconds=given.seconds or 1.0, quick=True)
    began, steal = time.monotonic(), Steal()
    set_up_logging(Settings(log_level="warning"), "bench")
    outcome = Outcome()
    try:
        tools = have_tools()
        with Testbed(tools) as testbed:
            about = machine(testbed.postgres.origin.split(" (")[0])
            for name in given.only or ROWS:
                print(f"{name} …", file=sys.stderr, flush=True)
                found = ROWS[name](testbed, plan)
                outcome.lines += found.lines
                outcome.ratios += found.ratios
    except (BenchProblem, ServerProblem) as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    about["stolen by other machines"] = steal.text() or "unknown"
    print(table(outcome, about, (time.monotonic() - began) / 60))
    print(f"\nKept as {keep(outcome, about, tools)}", file=sys.stderr)
    return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two rounds of a second: does it run at all")
    parser.add_argument(
        "--only", action="append", choices=ROWS, metavar="ROW", help=f"one of {', '.join(ROWS)}"
    )
    parser.add_argument(
        "--against", metavar="REV", help="compare with an older commit instead; see --against REV --help"
    )
    parser.add_argument("--rounds", type=int, help="rounds for each line (5)")
    parser.add_argument("--seconds", type=int, help="whole seconds for each round (3)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
