"""Progress and time left on stderr, and the run's time limit."""

import sys
import time

from bench.compare.rounds import Comparison

STARTING = 25.0
"""About as long as it takes to start servers and to fill the databases."""
REDRAW_SECONDS = 0.2


class Progress:
    def __init__(self, planned: dict[str, float], minutes: float) -> None:
        self._planned = planned
        self._began = time.monotonic()
        self._deadline = self._began + minutes * 60
        self._terminal = sys.stderr.isatty()
        self._done = 0.0
        self._row = ""
        self.cut_short = False

    def say(self, text: str) -> None:
        """Reports what happens between rows."""
        self._write(text, final=not self._terminal)

    def may_go_on(self, row: Comparison) -> bool:
        """Called before each round. False once the time limit is reached."""
        taken = len(row.pairs)
        if row.name != self._row:
            self._row = row.name
        self._done = sum(list(self._planned.values())[: list(self._planned).index(row.name)])
        self._done += self._planned[row.name] * min(1.0, taken / max(1, row.wanted))
        if time.monotonic() > self._deadline and taken >= 3:
            self.cut_short = True
            return False
        if taken and (self._terminal or taken == row.wanted - 1):
            self._write(f"{row.name}: round {taken + 1} of {row.wanted}, new is {row.ratio:.2f} of old")
        return True

    def finished(self, row: Comparison) -> None:
        self._write(f"{row.name}: {row.ratio:.3f} after {len(row.pairs)} rounds", final=True)

    def _left(self) -> float:
        total, gone = sum(self._planned.values()), time.monotonic() - self._began
        share = (self._done + STARTING) / (total + STARTING)
        left = gone / share - gone if gone > STARTING else total + STARTING - gone
        return max(0.0, min(left, self._deadline - time.monotonic()))

    def _write(self, text: str, *, final: bool = False) -> None:
        gone = time.monotonic() - self._began
        line = f"[{_clock(gone)} gone, about {_clock(self._left())} left] {text}"
        if self._terminal:
            print(f"\r\x1b[K{line}", end="\n" if final else "", file=sys.stderr, flush=True)
        elif final:
            print(line, file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
