"""`make sizes RATE=10`: how large the volumes must be for that many events a second on average.

The bytes were measured on Postgres with our tables and indexes: a row of the event log, and a row of a
delivery with its first attempt (tests/deploy/test_autoscaling.py measures both). The rest are estimates.
"""

import argparse

GIB = 2**30
BYTES_PER_EVENT = 1138
BYTES_PER_DELIVERY = 527
# An estimate, not measured: booking, outbox, event log and deliveries together, with full-page images.
WAL_BYTES_PER_EVENT = 12_000
# Also an estimate: the event in a quorum queue, its properties, and its log.
QUEUE_BYTES_PER_EVENT = 3_000
DAYS_KEPT = 30  # services/webhooks: events and their deliveries
DAYS_PER_TABLE = 7  # which is dropped when all of it is that old
DELIVERIES_PER_EVENT = 2
# Members, classes and bookings are kept. A studio adds about 20 MB a year; check yours.
OTHER_GIB = 10
# Space not yet reclaimed by autovacuum, temporary files, and a week to react to the alert at 75 %.
HEADROOM = 1.5
# max_wal_size, and how long the archive or a replica may be down before WAL fills its volume.
WAL_BASE_GIB = 4
ARCHIVE_AWAY_HOURS = 24
# disk_free_limit, and how long webhooks may be down before producers are blocked.
QUEUE_BASE_GIB = 2
CONSUMER_AWAY_HOURS = 72


def sizes(rate: float, days: int = DAYS_KEPT, deliveries: float = DELIVERIES_PER_EVENT) -> dict[str, float]:
    """In GiB, by volume."""
    a_day = rate * 86_400
    stored = a_day * (days + DAYS_PER_TABLE)
    events = stored * BYTES_PER_EVENT / GIB
    sent = stored * deliveries * BYTES_PER_DELIVERY / GIB
    return {
        "event log": events,
        "deliveries": sent,
        "database volume": (events + sent + OTHER_GIB) * HEADROOM,
        "WAL volume": WAL_BASE_GIB + rate * 3600 * ARCHIVE_AWAY_HOURS * WAL_BYTES_PER_EVENT / GIB,
        "broker volume": QUEUE_BASE_GIB + rate * 3600 * CONSUMER_AWAY_HOURS * QUEUE_BYTES_PER_EVENT / GIB,
        "archived WAL": a_day * days * WAL_BYTES_PER_EVENT / GIB,
    }


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("rate", type=float, help="events a second, on average over days")
    given.add_argument("--days", type=int, default=DAYS_KEPT, help="how long events are kept")
    given.add_argument("--deliveries", type=float, default=DELIVERIES_PER_EVENT, help="of each event")
    options = given.parse_args()
    for name, size in sizes(options.rate, options.days, options.deliveries).items():
        print(f"{name:16} {size:8.1f} GiB")


if __name__ == "__main__":
    main()
