"""Pairs of rounds, old and new back to back, so that other load on the machine affects both equally."""

import statistics
from collections.abc import Callable, Mapping
from contextlib import suppress

from msgspec import Struct

from bench.measure import Measure, Sample
from bench.problem import NothingMeasured

WORSE = 0.95
MOST_EMPTY = 10
"""Pairs of a row that may be taken anew because nothing came of one half."""


class Pair(Struct, frozen=True):
    old: Sample
    new: Sample


class Comparison(Struct, kw_only=True):
    """The rounds of one row. A ratio above 1 always means better, below 1 worse."""

    name: str
    unit: str
    less_is_better: bool
    pairs: list[Pair] = []
    wanted: int = 0

    @property
    def ratio(self) -> float:
        """The median of the ratios per pair: a slow minute affects both halves of a pair."""
        return statistics.median(self._ratios("rate"))

    @property
    def cpu_ratio(self) -> float | None:
        found = self._ratios("cpu_us")
        return statistics.median(found) if found else None

    @property
    def spread(self) -> tuple[float, float]:
        """The interquartile range of the ratios."""
        found = sorted(self._ratios("rate"))
        return found[len(found) // 4], found[-1 - len(found) // 4]

    @property
    def is_worse(self) -> bool:
        return self.ratio < WORSE

    def middle(self, side: str) -> float:
        return statistics.median((pair.old if side == "old" else pair.new).rate for pair in self.pairs)

    def _ratios(self, field: str) -> list[float]:
        costs = self.less_is_better or field == "cpu_us"
        found = []
        for pair in self.pairs:
            old, new = getattr(pair.old, field), getattr(pair.new, field)
            if old and new:
                found.append(old / new if costs else new / old)
        return found


def measure_row(
    row: Comparison,
    sides: Mapping[str, Measure],
    *,
    rounds: int,
    seconds: float,
    may_go_on: Callable[[Comparison], bool],
) -> None:
    """If a row looks worse, it is measured again for as long, at most twice. All its rounds count."""
    for measure in sides.values():
        with suppress(NothingMeasured):
            measure(min(1.0, seconds))  # warm-up, not counted
    row.wanted, empty = rounds, 0
    while len(row.pairs) < row.wanted and may_go_on(row):
        order = ("old", "new") if len(row.pairs) % 2 == 0 else ("new", "old")
        try:
            found = {name: sides[name](seconds) for name in order}
        except NothingMeasured:
            if (empty := empty + 1) > MOST_EMPTY:
                raise
            continue
        row.pairs.append(Pair(found["old"], found["new"]))
        if len(row.pairs) == row.wanted < 3 * rounds and row.is_worse:
            row.wanted += rounds
