"""A studio's desk: a row for each command that is one request."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from services.cli.output import when
from services.cli.requests import (
    AN_ID,
    ID,
    LIST,
    MEMBER,
    ONE,
    STUDIO,
    YES,
    Desk,
    Fields,
    Request,
    changes_nothing,
    flag,
    option,
    required,
)
from services.cli.values import (
    amount,
    an_id,
    count,
    currency,
    duration,
    email_or_id,
    in_zone,
    moment,
    positive,
)

_REASON = option("reason", "--reason")
_LOCATION = option("location_id", "--location", an_id, metavar="ID")
_BookingStatus = Literal["confirmed", "waitlisted", "checked_in", "no_show", "cancelled", "expired"]
_TITLE = option("title", "--title")
_START = option("start", "--start", moment, "2026-08-03T18:30 is the studio's own time", metavar="TIME")
_DURATION = option("duration", "--duration", duration, "how long it lasts", metavar="60m")
_CAPACITY = option("capacity", "--capacity", count, metavar="N")
_CLASS = (
    _LOCATION,
    option("room_id", "--room", an_id, metavar="ID"),
    option("instructor_id", "--instructor", an_id, metavar="ID"),
    option("class_type_id", "--class-type", an_id, metavar="ID"),
    option("allow_waitlist", "--waitlist/--no-waitlist", bool, "whether people may wait"),
    option("waitlist_capacity", "--waitlist-capacity", count, "how many may wait", metavar="N"),
    option("credit_cost", "--credits", count, "what a booking costs", metavar="N"),
    option("visible", "--visible/--no-visible", bool, "whether it can be booked"),
    STUDIO,
)


def _from_today(desk: Desk, given: Fields) -> None:
    midnight = datetime.now(desk.zone).replace(hour=0, minute=0, second=0, microsecond=0)
    given["starts_after"] = given["starts_after"] or midnight


def _new_times(desk: Desk, given: Fields) -> None:
    start, length = in_zone(given.pop("start"), desk.zone), timedelta(seconds=given.pop("duration"))
    given |= {"start_time": start, "end_time": start + length}


def _changed_times(desk: Desk, given: Fields) -> None:
    """A class that is moved keeps its duration unless a new one is given."""
    start, seconds = given.pop("start"), given.pop("duration")
    if start is None and seconds is None:
        return
    now = desk.get(f"/classes/{given['id']}")
    old_start, old_end = (datetime.fromisoformat(now[name]) for name in ("start_time", "end_time"))
    begin = old_start if start is None else in_zone(start, desk.zone)
    length = old_end - old_start if seconds is None else timedelta(seconds=seconds)
    given |= {"start_time": begin, "end_time": begin + length}


def _class_and_bookings(desk: Desk, given: Fields) -> str:
    class_ = desk.get(f"/classes/{given['id']}")
    return (
        f"{class_['title']} on {when(class_['start_time'], desk.zone)} will be cancelled for good, "
        f"with {class_['booked_count']} bookings and its waitlist."
    )


def _cost_of_cancelling(desk: Desk, given: Fields) -> str:
    costs = desk.get(f"/bookings/{given['id']}/cancellation-preview")
    fee = f"{costs['late_fee_amount']} {costs['late_fee_currency']}" if costs["late_fee_amount"] else "no"
    return (
        f"The booking will be cancelled, with {fee} late fee and {costs['credits_forfeited']} credits lost."
    )


def _end_of_membership(desk: Desk, given: Fields) -> str:
    moment = "at the end of its period" if given["at_period_end"] else "now"
    return f"The membership will be cancelled {moment}, for good."


def _end_of_pause(desk: Desk, given: Fields) -> None:
    if (length := given.pop("length")) is not None:
        given["resumes_at"] = datetime.now(UTC) + timedelta(seconds=length)


def _two_ends_of_pause(given: Fields) -> str:
    both = given["length"] is not None and given["resumes_at"] is not None
    return "Give --for or --until, not both." if both else ""


def _no_change(given: Fields) -> str:
    if not changes_nothing(given, "id", "studio"):
        return ""
    return "Give at least one change; `studioctl classes change --help` lists the options."


DESK_REQUESTS = (
    Request(
        "members list",
        "list members, oldest first",
        "GET /studios/{studio}/members",
        (option("email", "--email", help="only the member with this email"), *LIST),
        "--email ada@example.com",
        ("id", "name", "email", "phone", "credits", "suspended"),
    ),
    Request(
        "members show",
        "show a member",
        "GET /studios/{studio}/members/{member_id}",
        (MEMBER, STUDIO),
        "ada@example.com",
    ),
    Request(
        "classes list",
        "list classes from today on",
        "GET /studios/{studio}/classes",
        (
            option("starts_after", "--since", moment, "first day or time (today)", metavar="TIME"),
            option("starts_before", "--until", moment, "last day or time", metavar="TIME"),
            option("status", "--status", Literal["scheduled", "completed", "cancelled"]),
            _LOCATION,
            *LIST,
        ),
        "--until 2026-08-10",
        ("id", "start_time", "title", "booked_count", "capacity", "status"),
        _from_today,
    ),
    Request(
        "classes create",
        "schedule a class",
        "POST /studios/{studio}/classes",
        (*map(required, (_TITLE, _START, _DURATION, _CAPACITY)), *_CLASS),
        "--title Yoga --start 2026-08-03T18:30 --duration 60m --capacity 12 --waitlist",
        prepare=_new_times,
    ),
    Request(
        "classes change",
        "change a class; omitted options stay unchanged",
        "PATCH /studios/{studio}/classes/{id}",
        (
            ID,
            *(_TITLE, _START, _DURATION, _CAPACITY, *_CLASS),
            option("status", "--status", Literal["scheduled", "completed"]),
        ),
        f"{AN_ID} --capacity 15",
        prepare=_changed_times,
        check=_no_change,
    ),
    Request(
        "classes cancel",
        "cancel a class with all its bookings, without fees",
        "POST /studios/{studio}/classes/{id}/cancel",
        (*ONE, _REASON, YES),
        f'{AN_ID} --reason "storm"',
        question=_class_and_bookings,
    ),
    # First those with a seat, in order of booking, then those waiting, in order of the waitlist.
    Request(
        "classes roster",
        "list who comes to a class and who waits",
        "GET /studios/{studio}/classes/{id}/roster",
        (
            ID,
            option("status", "--status", _BookingStatus, "all but cancelled and expired, by default"),
            *LIST,
        ),
        AN_ID,
        ("id", "member_name", "status", "waitlist_position", "member_email"),
        order_by=lambda row: row["waitlist_position"] or 0,
    ),
    Request(
        "bookings check-in", "check a member in", "POST /studios/{studio}/bookings/{id}/check-in", ONE, AN_ID
    ),
    Request(
        "bookings no-show",
        "mark a no-show, once the class has started",
        "POST /studios/{studio}/bookings/{id}/no-show",
        ONE,
        AN_ID,
    ),
    Request(
        "bookings undo", "undo a check-in", "POST /studios/{studio}/bookings/{id}/undo-check-in", ONE, AN_ID
    ),
    Request(
        "bookings cancel",
        "cancel a booking under the studio's policy",
        "POST /studios/{studio}/bookings/{id}/cancel",
        (*ONE, _REASON, YES),
        f"{AN_ID} --yes",
        question=_cost_of_cancelling,
    ),
    Request(
        "memberships list",
        "list a member's memberships",
        "GET /studios/{studio}/members/{member_id}/memberships",
        (MEMBER, *LIST),
        "ada@example.com",
        ("id", "status", "auto_renew", "product_id"),
    ),
    Request(
        "memberships pause",
        "pause a membership",
        "POST /studios/{studio}/memberships/{id}/pause",
        (
            *ONE,
            option("length", "--for", duration, "it resumes by itself", metavar="30d"),
            option("resumes_at", "--until", moment, "it resumes then", metavar="TIME"),
            _REASON,
        ),
        f"{AN_ID} --for 30d",
        prepare=_end_of_pause,
        check=_two_ends_of_pause,
    ),
    Request(
        "memberships resume",
        "resume a paused membership",
        "POST /studios/{studio}/memberships/{id}/resume",
        ONE,
        AN_ID,
    ),
    Request(
        "memberships cancel",
        "cancel a membership",
        "POST /studios/{studio}/memberships/{id}/cancel",
        (
            *ONE,
            flag("at_period_end", "--at-period-end", "at the end of the paid period instead of now"),
            _REASON,
            YES,
        ),
        f"{AN_ID} --at-period-end",
        question=_end_of_membership,
    ),
    Request(
        "purchases record",
        "record a purchase; a completed one grants its credits",
        "POST /studios/{studio}/purchases",
        (
            required(option("member_id", "--member", email_or_id, metavar="EMAIL|ID")),
            required(option("product_id", "--product", an_id, metavar="ID")),
            option("quantity", "--quantity", positive, "1 by default", metavar="N"),
            option("amount_total", "--amount", amount, "the total", metavar="49.90"),
            option("currency", "--currency", currency, metavar="EUR"),
            option("status", "--status", Literal["completed", "pending"], "completed by default"),
            option("location_id", "--location", an_id, "where it was bought", metavar="ID"),
            STUDIO,
        ),
        f"--member ada@example.com --product {AN_ID} --amount 49.90 --currency EUR",
    ),
    Request(
        "purchases list",
        "list purchases, oldest first",
        "GET /studios/{studio}/purchases",
        (option("member_id", "--member", email_or_id, metavar="EMAIL|ID"), *LIST),
        "--member ada@example.com",
        ("id", "created_at", "product_key", "quantity", "amount_total", "currency", "status"),
    ),
)
