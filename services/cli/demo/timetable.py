"""The weekly timetable, two weeks of classes made from it, and who attends them.

A slot is in its location's local time: the seven o'clock class stays at seven all year.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from services.cli.demo.studio import BY_ID, PACK_HOLDERS, SUBSCRIBERS, Line, demo_id, line, named
from shared.wire import delivery_id

DAYS: Final = 14
WEEKDAYS: Final = frozenset({0, 1, 2, 3, 4})


class Slot(Struct, frozen=True):
    """`booked` and `waiting` are the numbers of members that the demo adds to each class of this slot."""

    key: str
    weekdays: frozenset[int]
    at: time
    minutes: int
    class_type: str
    room: str
    instructor: str
    capacity: int
    allow_waitlist: bool = False
    waitlist_capacity: int | None = None
    credit_cost: int = 0
    spots: bool = False
    booked: int = 0
    waiting: int = 0

    @property
    def room_line(self) -> Line:
        return named("room", self.room)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(BY_ID[self.room_line["location_id"]]["timezone"])


class Session(Struct, frozen=True):
    """One class: a slot on a day. `booked_from` is when its first booking was made, where that is fixed."""

    slot: Slot
    on: date
    booked_from: datetime | None = None

    @property
    def start(self) -> datetime:
        return datetime.combine(self.on, self.slot.at, self.slot.zone)

    @property
    def name(self) -> str:
        return f"{self.on.isoformat()}/{self.slot.key}"

    @property
    def id(self) -> str:
        return demo_id("class", self.name)

    @property
    def spot_labels(self) -> list[str]:
        return [f"R{number + 1}" for number in range(self.slot.capacity)] if self.slot.spots else []


def _slot(key: str, weekdays: Iterable[int], at: str, *rest: object, **more: object) -> Slot:
    return Slot(key, frozenset(weekdays), time.fromisoformat(at), *rest, **more)  # type: ignore[arg-type]


SLOTS: Final = (
    _slot("early-flow", WEEKDAYS, "07:00", 60, "flow", "brooklyn-main", "maya", 20, True, booked=4),
    _slot("lunch-mat", {1, 3}, "12:15", 45, "mat", "brooklyn-main", "hannah", 16),
    _slot("reformer", {0, 2, 4}, "18:00", 50, "reformer", "brooklyn-reformer", "jonas", 8, True, 4,
          credit_cost=1, spots=True, booked=3),
    _slot("barre", {1, 3}, "17:30", 50, "barre", "brooklyn-main", "hannah", 12, True, booked=11),
    _slot("evening-restore", {6}, "19:00", 75, "restore", "brooklyn-main", "maya", 14, booked=2),
    _slot("saturday-hiit", {5}, "09:30", 45, "hiit", "brooklyn-main", "diego", 10, True, 5,
          booked=10, waiting=2),
    _slot("ride", {0, 2, 4}, "06:30", 45, "ride", "chicago-bikes", "priya", 12, True),
    _slot("loft-hiit", {1, 3}, "18:30", 45, "hiit", "chicago-loft", "diego", 16, credit_cost=1),
    _slot("loft-stretch", {6}, "10:00", 40, "stretch", "chicago-loft", "diego", 16),
)  # fmt: skip


def sessions(first: date) -> Iterator[Session]:
    for number in range(DAYS):
        on = first + timedelta(days=number)
        for slot in SLOTS:
            if on.weekday() in slot.weekdays:
                yield Session(slot, on)


def instant(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def class_lines(coming: Iterable[Session]) -> Iterator[Line]:
    for session in coming:
        slot = session.slot
        class_type = named("class_type", slot.class_type)
        yield line(
            "class",
            session.name,
            title=class_type["name"],
            description=class_type["description"],
            class_type_id=class_type["id"],
            location_id=slot.room_line["location_id"],
            room_id=slot.room_line["id"],
            instructor_id=demo_id("instructor", slot.instructor),
            start_time=instant(session.start),
            end_time=instant(session.start + timedelta(minutes=slot.minutes)),
            capacity=slot.capacity,
            booked_count=slot.booked,
            available_count=slot.capacity - slot.booked,
            held_count=0,
            allow_waitlist=slot.allow_waitlist,
            spot_selection_mode="required" if slot.spots else None,
            status="scheduled",
            visible=True,
            timezone=str(slot.zone),
            start_local=session.start.strftime("%Y-%m-%dT%H:%M:%S"),
            waitlist_capacity=slot.waitlist_capacity,
            credit_cost=slot.credit_cost,
        )
        for number, label in enumerate(session.spot_labels):
            yield line(
                "class_spot",
                f"{session.name}/{label}",
                class_id=session.id,
                label=label,
                order=number + 1,
                available=number >= slot.booked,
            )


# Earlier than the first day of any demo that contains the class, so no booking is made in the future.
BOOKED_BEFORE = timedelta(days=DAYS + 1)


def attendance_lines(coming: Iterable[Session]) -> Iterator[Line]:
    for session in coming:
        for number, member in enumerate(attending(session)):
            position = max(0, number + 1 - session.slot.booked)
            yield _booking(session, member, number, position or None)
            if position:
                yield line(
                    "waitlist",
                    f"{session.name}/{member['name']}",
                    class_id=session.id,
                    member_id=member["id"],
                    position=position,
                    status="waiting",
                    converted_to_booking=False,
                )


def attending(session: Session) -> list[Line]:
    """Different members each day. Only subscribers book classes that cost credits, so nobody owes any."""
    pool = SUBSCRIBERS if session.slot.credit_cost else (*SUBSCRIBERS, *PACK_HOLDERS)
    first = session.on.toordinal() * 3
    wanted = session.slot.booked + session.slot.waiting
    return [pool[(first + number) % len(pool)] for number in range(wanted)]


def _booking(session: Session, member: Line, number: int, position: int | None) -> Line:
    first = session.booked_from or session.start - BOOKED_BEFORE
    booked_at = instant(first + timedelta(minutes=7 * number))
    spot = session.spot_labels[number] if session.spot_labels else None
    return line(
        "booking",
        f"{session.name}/{member['name']}",
        class_id=session.id,
        member_id=member["id"],
        status="waitlisted" if position else "confirmed",
        booking_source="partner_api" if number % 2 else "studio",
        class_spot_id=demo_id("class_spot", f"{session.name}/{spot}") if spot else None,
        waitlist_position=position,
        held_until=None,
        created_at=booked_at,
        updated_at=booked_at,
    )


# The ids of the timetable's classes change from day to day. The samples in the reference need ids that every
# demo has, and classes that can still be booked.
_DAY: Final = date(2036, 6, 21)
_BOOKED: Final = datetime(2026, 6, 1, 15, tzinfo=UTC)


OPEN_CLASS: Final = Session(
    _slot("reformer-retreat", (), "09:30", 90, "reformer", "brooklyn-reformer", "jonas", 8, True,
          spots=True, booked=3),
    _DAY, _BOOKED,
)  # fmt: skip
FULL_CLASS: Final = Session(
    _slot("restore-retreat", (), "15:00", 90, "restore", "brooklyn-main", "maya", 2, True,
          booked=2, waiting=3),
    _DAY, _BOOKED,
)  # fmt: skip
# On another day, so that whoever attends it may move to the open class.
LEFT_CLASS: Final = Session(
    _slot("barre-retreat", (), "09:30", 90, "barre", "brooklyn-main", "hannah", 12, True, booked=1),
    _DAY + timedelta(days=1), _BOOKED,
)  # fmt: skip
FIXED_CLASSES: Final = (OPEN_CLASS, FULL_CLASS, LEFT_CLASS)
BOOKING_ID: Final = demo_id("booking", f"{OPEN_CLASS.name}/{attending(OPEN_CLASS)[0]['name']}")
MOVABLE_ID: Final = demo_id("booking", f"{LEFT_CLASS.name}/{attending(LEFT_CLASS)[0]['name']}")

# Made by `services/cli/load_demo.py`: an import brings none of these.
ENDPOINT_ID: Final = demo_id("webhook_endpoint", "demo")
EVENT_ID: Final = demo_id("event", "booking.created")
DELIVERY_ID: Final = delivery_id(EVENT_ID, ENDPOINT_ID)
RECOVERY_ID: Final = demo_id("webhook_recovery", "demo")
IDEMPOTENCY_KEY: Final = "demo-booking-0001"
KEY_ID: Final = demo_id("key", "demo")
STAFF_TOKEN_ID: Final = demo_id("staff_token", "demo")


def spot_id(label: str) -> str:
    """A spot of the open class."""
    return demo_id("class_spot", f"{OPEN_CLASS.name}/{label}")
