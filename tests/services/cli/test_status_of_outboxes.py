"""What `studioctl status` says about an outbox."""

from typing import Any

import pytest

from services.cli.output import status_lines


def shown(**figures: Any) -> str:
    return next(iter(status_lines({"bookings": {"status": "ready", "figures": figures}})))


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((0, 0, 0), "outbox empty"),
        ((3, 0, 0), "outbox 3 waiting, oldest"),
        ((0, 4, 0), "outbox 4 in flight, oldest"),
        ((1, 2, 5), "outbox 1 waiting, 2 in flight, 5 parked, oldest"),
    ],
    ids=["empty", "waiting", "in flight", "all three"],
)
def test_every_unacknowledged_event_is_shown_by_its_state(counts: tuple[int, int, int], text: str) -> None:
    """An event in flight that is not logged is as much of a problem as one that waits."""
    waiting, in_flight, parked = counts
    line = shown(
        outbox_waiting=waiting, outbox_in_flight=in_flight, outbox_parked=parked, outbox_age_seconds=90.0
    )
    assert text in line


def test_parked_events_have_no_age() -> None:
    """They wait for a person, not for the broker."""
    line = shown(outbox_waiting=0, outbox_in_flight=0, outbox_parked=2, outbox_age_seconds=0.0)
    assert line.endswith("outbox 2 parked")


def test_an_overdue_studio_is_named_with_what_the_log_has() -> None:
    """A logged event only lacks its acknowledgement; one that is not logged has reached nobody."""
    studio = {"service": "bookings", "studio_id": "s1", "waiting": 1, "in_flight": 0, "parked": 2}
    services = {"bookings": {"status": "ready"}}
    [line] = [
        line
        for line in status_lines(services, [studio | {"compared": 3, "logged": 2}])
        if line.startswith("overdue")
    ]
    assert line == ("overdue: bookings, studio s1: 1 waiting, 2 parked; of the oldest 3 the event log has 2")
    lines = list(status_lines(services, [studio | {"compared": 0, "logged": 0}]))
    assert any("could not be asked" in line for line in lines), "the event log is unavailable"
