"""Time from `make up` to ready with existing data, and the memory of each process."""

from bench.cores import ALL, memory_mb
from bench.measure import Line, Outcome, Plan, Ratio, Sample
from bench.system import System
from bench.testbed import Testbed

ROW = "start"


def run(testbed: Testbed, plan: Plan) -> Outcome:
    system = System(testbed.home("up"), "")
    seconds: list[float] = []
    try:
        for again in range(1 + (1 if plan.quick else 3)):
            taken = system.up(demo=True, cores=ALL)
            if again:
                seconds.append(taken)
            memory = memory_mb(system.processes["up"].pid)
            system.stop()
    finally:
        system.stop()
    five = {name: memory_mb(process.pid) for name, process in testbed.system.processes.items()}
    starts = Line(
        row=ROW,
        name="`up`, second start to ready",
        unit="s",
        samples=[Sample(rate=value) for value in seconds],
    )
    taken_up = [("`up`, after its start", memory), *five.items()]
    memories = [
        Line(row="memory", name=name, unit="MB resident", samples=[Sample(rate=value)])
        for name, value in taken_up
    ]
    return Outcome(
        lines=[starts, *memories],
        ratios=[
            Ratio(
                row=ROW,
                text="second start to ready",
                value=starts.median,
                unit="s",
                must=5,
                aim=2.0,
                less_is_better=True,
            ),
            Ratio(
                row=ROW,
                text="memory of the largest of five service processes",
                value=max(five.values()),
                unit="MB",
                must=110,
                aim=90,
                less_is_better=True,
            ),
        ],
    )
