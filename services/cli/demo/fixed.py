"""What has the same id in every demo, for the samples in the reference.

The ids of the timetable's classes change from day to day. The samples need ids that exist on any day, and
classes that can still be booked.
"""

from datetime import UTC, date, datetime, time
from typing import Final
from zoneinfo import ZoneInfo

from services.cli.demo.ids import demo_id
from services.cli.demo.studio import BROOKLYN, TIMEZONES
from services.cli.demo.timetable import Session, Slot

_DAY: Final = date(2036, 6, 21)
_BOOKED: Final = datetime(2026, 6, 1, 15, tzinfo=UTC)


def _session(slot: Slot) -> Session:
    start = datetime.combine(_DAY, slot.at, ZoneInfo(TIMEZONES[BROOKLYN]))
    return Session(slot, _DAY, start, booked_from=_BOOKED)


OPEN_CLASS: Final = _session(
    Slot(
        key="reformer-retreat",
        weekdays=frozenset(),
        at=time(9, 30),
        minutes=90,
        class_type="reformer",
        room="brooklyn-reformer",
        instructor="jonas",
        capacity=8,
        allow_waitlist=True,
        spots=True,
        booked=3,
    )
)
FULL_CLASS: Final = _session(
    Slot(
        key="restore-retreat",
        weekdays=frozenset(),
        at=time(15),
        minutes=90,
        class_type="restore",
        room="brooklyn-main",
        instructor="maya",
        capacity=2,
        allow_waitlist=True,
        booked=2,
        waiting=1,
    )
)
FIXED_CLASSES: Final = (OPEN_CLASS, FULL_CLASS)

# Made by `services/cli/demo_samples.py` and `demo_operator_samples.py`: an import brings none of these.
ENDPOINT_ID: Final = demo_id("webhook_endpoint", "demo")
EVENT_ID: Final = demo_id("event", "booking.created")
DELIVERY_ID: Final = demo_id("webhook_delivery", "demo")
RECOVERY_ID: Final = demo_id("webhook_recovery", "demo")
IDEMPOTENCY_KEY: Final = "demo-booking-0001"
KEY_ID: Final = demo_id("key", "demo")
STAFF_TOKEN_ID: Final = demo_id("staff_token", "demo")


def spot_id(label: str) -> str:
    """A spot of the open class."""
    return demo_id("class_spot", f"{OPEN_CLASS.name}/{label}")
