"""Shared by the two booking rows: measurements that never book the same member twice."""

from itertools import count

from bench.measure import Measure, Sample
from bench.pgbench import Pgbench
from bench.studios import FIRST_HOT, HOT_CLASSES, MEMBERS, Studio
from bench.system import System
from bench.testbed import Testbed

# Numbers reserved for one round.
SHARE = 100_000


class Bookings:
    """Gives every round its own range of numbers; for the hot class, its own class."""

    def __init__(self, testbed: Testbed, studio: Studio, *, hot: bool = False, first: int = 0) -> None:
        self.testbed = testbed
        self.studio = studio
        self.hot = hot
        self._shares = count(first)

    def ours(self, system: System, key: str) -> Measure:
        return self._wrk(system.partner_url + "/bookings", key, system.chain)

    def usual(self, url: str, pid: int) -> Measure:
        return self._wrk(f"{url}/bookings", self.studio.id, [pid])

    def floor(self, pgbench: Pgbench) -> Measure:
        def measure(seconds: float) -> Sample:
            return pgbench.run(seconds, {**self.next_numbers(), "i": 0})

        return measure

    def next_numbers(self) -> dict[str, int]:
        share = next(self._shares)
        if self.hot:
            return {"first": 0, "classes": 1, "first_class": FIRST_HOT + share % HOT_CLASSES}
        return {"first": share * SHARE, "classes": self.studio.classes, "first_class": 1}

    def _wrk(self, url: str, key: str, pids: list[int]) -> Measure:
        load = self.testbed.load(
            url, key=key, script="book.lua", served_by=pids, studio=self.studio.number, members=MEMBERS
        )

        def measure(seconds: float) -> Sample:
            numbers = self.next_numbers()
            # The idempotency key must be new too: on a hot class the numbers restart with every round.
            settings = {f"BENCH_{name.upper()}": str(value) for name, value in numbers.items()}
            return load.run(seconds, **settings)

        return measure
