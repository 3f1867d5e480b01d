"""What `studioctl status` says about an outbox."""

from typing import Any

import pytest

from services.cli.output import status_lines


def shown(**figures: Any) -> str:
    return next(iter(status_lines({"bookings": {"status": "ready", "figures": figures}})))


@pytest.mark.parametrize(
    ("waiting", "overdue", "text"),
    [
        (0, 0, "outbox empty"),
        (3, 0, "outbox 3 waiting, oldest 90s"),
        (5, 2, "outbox 5 waiting (2 overdue), oldest 90s"),
    ],
    ids=["empty", "waiting", "overdue"],
)
def test_the_events_that_are_not_logged_yet_are_shown(waiting: int, overdue: int, text: str) -> None:
    """How many, how old, and how many of them should have arrived by now."""
    assert text in shown(outbox_waiting=waiting, outbox_overdue=overdue, outbox_age_seconds=90.0)
