"""Short interleaved rounds, so that other load on the machine affects all contestants equally."""

import statistics
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct


class Sample(Struct, frozen=True, kw_only=True):
    """One round: operations a second, latency, and CPU time of the measured side per operation."""

    rate: float
    p50_ms: float | None = None
    p99_ms: float | None = None
    cpu_us: float | None = None


class Plan(Struct, frozen=True, kw_only=True):
    rounds: int = 5
    seconds: float = 3.0
    quick: bool = False


class Line(Struct, frozen=True, kw_only=True):
    """A line of the table: what was measured, round by round."""

    row: str
    name: str
    unit: str
    samples: list[Sample]

    @property
    def median(self) -> float:
        return statistics.median(sample.rate for sample in self.samples)

    def middle(self, field: str) -> float | None:
        values = [value for sample in self.samples if (value := getattr(sample, field)) is not None]
        return statistics.median(values) if values else None

    @property
    def spread(self) -> tuple[float, float]:
        rates = [sample.rate for sample in self.samples]
        return min(rates), max(rates)


class Ratio(Struct, frozen=True, kw_only=True):
    """A ratio, with targets if there are any: `must` and `aim`."""

    row: str
    text: str
    value: float
    unit: str = ""
    must: float | None = None
    aim: float | None = None
    less_is_better: bool = False

    def reaches(self, target: float | None) -> bool:
        if target is None:
            return False
        return self.value <= target if self.less_is_better else self.value >= target

    @property
    def verdict(self) -> str:
        if self.must is None:
            return ""
        if self.reaches(self.aim):
            return "aim reached"
        return "met" if self.reaches(self.must) else "missed"


class Outcome(Struct, kw_only=True):
    lines: list[Line] = []
    ratios: list[Ratio] = []


def median_ratio(rates: Sequence[float], others: Sequence[float]) -> float:
    """Round by round, so that a machine that becomes slower or faster in the meantime changes little."""
    return statistics.median(rate / other for rate, other in zip(rates, others, strict=True))


Measure = Callable[[float], Sample]
"""Measures for so many seconds."""


def interleaved(
    row: str, contestants: Mapping[str, Measure], plan: Plan, *, unit: str = "requests/s"
) -> dict[str, Line]:
    """Warms each contestant up once, then runs rounds. Each round starts with a different contestant."""
    samples: dict[str, list[Sample]] = {name: [] for name in contestants}
    for measure in contestants.values():
        measure(min(1.0, plan.seconds))
    names = list(contestants)
    for number in range(plan.rounds):
        for name in _turned(names, number):
            samples[name].append(contestants[name](plan.seconds))
    return {name: Line(row=row, name=name, unit=unit, samples=found) for name, found in samples.items()}


def _turned(names: Sequence[str], by: int) -> list[str]:
    by %= len(names)
    return [*names[by:], *names[:by]]
