"""What each row measures on both sides. A measurement is short, because there are many rounds."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from bench.compare.side import Side
from bench.compare.steps import booked_and_logged, delivered, received, second_start
from bench.load import Load
from bench.measure import Measure, Sample
from bench.rows.booking import Bookings
from bench.studios import MANY_ENDPOINTS, READING, TOLD, WRITING

ENDPOINTS, MANY = 10, 2_000
EVENTS = 400


class Row(Struct, frozen=True, kw_only=True):
    """`group` names the processes it needs; `takes` is the rough duration of a measurement in seconds."""

    name: str
    group: str
    unit: str
    make: Callable[[Side], Measure]
    takes: float | None = None
    less_is_better: bool = False


def hop(side: Side) -> Measure:
    return _hop(side, 64).run


def hop_alone(side: Side) -> Measure:
    load = _hop(side, 1)

    def measure(seconds: float) -> Sample:
        sample = load.run(seconds)
        return Sample(rate=sample.p50_ms or 0.0, cpu_us=sample.cpu_us)

    return measure


def _hop(side: Side, connections: int) -> Load:
    url = f"{side.hop.partner_url}/studio"
    pids = side.hop.pids("gateway")
    return side.testbed.load(url, key=side.keys[READING.name], served_by=pids, connections=connections)


def read(side: Side) -> Measure:
    url = f"{side.quiet.partner_url}/classes?limit=50"
    return side.testbed.load(url, key=side.keys[READING.name], served_by=side.quiet.chain).run


def write(side: Side) -> Measure:
    return Bookings(side.testbed, WRITING).ours(side.quiet, side.keys[WRITING.name])


def hot(side: Side) -> Measure:
    return Bookings(side.testbed, WRITING, hot=True).ours(side.quiet, side.keys[WRITING.name])


def chain(side: Side) -> Measure:
    # The write row has already used this studio's first numbers.
    booking = Bookings(side.testbed, WRITING, first=300).ours(side.five, side.keys[WRITING.name])
    return booked_and_logged(side, WRITING, booking)


def webhooks(side: Side) -> Measure:
    return delivered(side, TOLD, events=EVENTS, endpoints=ENDPOINTS)


def endpoints(side: Side) -> Measure:
    return delivered(side, MANY_ENDPOINTS, events=1, endpoints=MANY)


ROWS: Mapping[str, Row] = {
    row.name: row
    for row in (
        Row(name="hop", group="hop", unit="requests/s", make=hop),
        Row(name="hop-1", group="hop", unit="p50 ms", make=hop_alone, less_is_better=True),
        Row(name="read", group="quiet", unit="requests/s", make=read),
        Row(name="write", group="quiet", unit="requests/s", make=write),
        Row(name="hot", group="quiet", unit="requests/s", make=hot),
        Row(name="chain", group="five", unit="logged/s", make=chain, takes=4),
        Row(name="webhooks", group="five", unit="deliveries/s", make=webhooks, takes=2.5),
        Row(name="endpoints", group="five", unit="deliveries/s", make=endpoints, takes=3),
        Row(name="receipt", group="five", unit="p50 ms", make=received, takes=1.5, less_is_better=True),
        Row(name="start", group="up", unit="s to ready", make=second_start, takes=4, less_is_better=True),
    )
}
MEMORY = ("gateway", "catalog", "bookings", "forms", "webhooks")
GROUPS = ("hop", "quiet", "five", "up")
