"""A studio's desk: a row for each command that is one request."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from services.cli.output import when
from services.cli.requests import AN_ID, LIMIT, Desk, Fields, Request, changes_nothing, flag, option, required
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

_REASON = option("--reason")
_ADD_SEAT = option(
    "--add-seat", bool, "one more if it is full (managers)", field="override_capacity", default=False
)
_LOCATION = option("--location", an_id, field="location_id")
_MEMBER = option("--member", email_or_id, field="member_id")
_BookingStatus = Literal["held", "confirmed", "waitlisted", "checked_in", "no_show", "cancelled", "expired"]
_NEEDED = (
    option("--title"),
    option("--start", moment, "2026-08-03T18:30 is the studio's own time"),
    option("--duration", duration, "how long it lasts", metavar="60m"),
    option("--capacity", count),
)
_CLASS = (
    _LOCATION,
    option("--room", an_id, field="room_id"),
    option("--instructor", an_id, field="instructor_id"),
    option("--class-type", an_id, field="class_type_id"),
    option("--waitlist/--no-waitlist", bool, "whether people may wait", field="allow_waitlist"),
    option("--waitlist-capacity", count, "how many may wait"),
    option("--credits", count, "what a booking costs", field="credit_cost"),
    option("--visible/--no-visible", bool, "whether it can be booked", field="visible"),
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


def _who_comes(given: Fields) -> str:
    if (given["member_id"] is None) == (given["name"] is None) or (given["name"] and not given["email"]):
        return "Give --member, or --new with --email."
    return ""


def _new_member(desk: Desk, given: Fields) -> None:
    first, _, last = (given.pop("name") or "").partition(" ")
    email = given.pop("email")
    if first:
        given["member"] = {"first_name": first, "last_name": last or first, "email": email}


DESK_REQUESTS = (
    Request(
        "members list",
        "list members, oldest first",
        "GET /studios/{studio}/members",
        (
            option("--search", help="what a name, an email or a phone begins with", field="q"),
            option("--email", help="only the member with this email"),
            LIMIT,
        ),
        "--search ada",
        ("id", "name", "email", "phone", "credits", "suspended"),
    ),
    Request(
        "members show",
        "show a member",
        "GET /studios/{studio}/members/{member_id}",
        example="ada@example.com",
    ),
    Request(
        "classes list",
        "list classes from today on",
        "GET /studios/{studio}/classes",
        (
            option("--since", moment, "first day or time (today)", field="starts_after"),
            option("--until", moment, "last day or time", field="starts_before"),
            option("--status", Literal["scheduled", "completed", "cancelled"]),
            _LOCATION,
            LIMIT,
        ),
        "--until 2026-08-10",
        ("id", "start_time", "title", "booked_count", "capacity", "status"),
        _from_today,
    ),
    Request(
        "classes create",
        "schedule a class",
        "POST /studios/{studio}/classes",
        (*map(required, _NEEDED), *_CLASS),
        "--title Yoga --start 2026-08-03T18:30 --duration 60m --capacity 12 --waitlist",
        prepare=_new_times,
    ),
    Request(
        "classes change",
        "change a class; omitted options stay unchanged",
        "PATCH /studios/{studio}/classes/{id}",
        (*_NEEDED, *_CLASS, option("--status", Literal["scheduled", "completed"])),
        f"{AN_ID} --capacity 15",
        prepare=_changed_times,
        check=_no_change,
    ),
    Request(
        "classes cancel",
        "cancel a class with all its bookings, without fees",
        "POST /studios/{studio}/classes/{id}/cancel",
        (_REASON,),
        f'{AN_ID} --reason "storm"',
        question=_class_and_bookings,
    ),
    # First those with a seat, in order of booking, then those waiting, in order of the waitlist.
    Request(
        "classes roster",
        "list who comes to a class and who waits",
        "GET /studios/{studio}/classes/{id}/roster",
        (option("--status", _BookingStatus, "all but cancelled and expired, by default"), LIMIT),
        columns=(
            "id",
            "member_name",
            "status",
            "held_until",
            "waitlist_position",
            "credits",
            "membership_status",
        ),
        order_by=lambda row: row["waitlist_position"] or 0,
    ),
    Request(
        "bookings create",
        "book a walk-in, for a member or somebody new",
        "POST /studios/{studio}/bookings",
        (
            required(option("--class", an_id, field="class_id")),
            _MEMBER,
            option("--new", help="somebody new, with --email", field="name", metavar="'FIRST LAST'"),
            option("--email", help="of somebody new"),
            flag("--check-in", "check in at once"),
            flag("--join-waitlist", "wait if the class is full"),
            _ADD_SEAT,
        ),
        f"--class {AN_ID} --member ada@example.com --check-in",
        prepare=_new_member,
        check=_who_comes,
    ),
    Request(
        "bookings list",
        "list bookings, oldest first",
        "GET /studios/{studio}/bookings",
        (
            _MEMBER,
            option("--class", an_id, field="class_id"),
            option("--cancelled-since", moment, "only those cancelled since then"),
            LIMIT,
        ),
        "--cancelled-since 2026-08-03",
        ("id", "member_name", "class_title", "start_time", "status", "late_cancel"),
    ),
    Request(
        "bookings waive-fee",
        "waive the fee of a late cancellation",
        "POST /studios/{studio}/bookings/{id}/waive-fee",
    ),
    Request(
        "waitlist list",
        "list who waits for a class",
        "GET /studios/{studio}/waitlist",
        (required(option("--class", an_id, field="class_id")), LIMIT),
        f"--class {AN_ID}",
        ("id", "position", "member_id", "status"),
    ),
    Request(
        "waitlist promote",
        "give somebody who waits a seat, out of turn",
        "POST /studios/{studio}/waitlist/{id}/promote",
        (_ADD_SEAT,),
    ),
    Request("waitlist skip", "take somebody off the waitlist", "POST /studios/{studio}/waitlist/{id}/skip"),
    *(
        Request(
            f"catalog {noun}",
            f"list the studio's {noun.replace('-', ' ')}",
            f"GET /studios/{{studio}}/{noun}",
            (LIMIT,),
            columns=("id", "name"),
        )
        for noun in ("locations", "rooms", "class-types", "instructors", "products")
    ),
    Request("bookings check-in", "check a member in", "POST /studios/{studio}/bookings/{id}/check-in"),
    Request(
        "bookings no-show",
        "mark a no-show, once the class has started",
        "POST /studios/{studio}/bookings/{id}/no-show",
    ),
    Request("bookings undo", "undo a check-in", "POST /studios/{studio}/bookings/{id}/undo-check-in"),
    Request(
        "bookings cancel",
        "cancel a booking under the studio's policy",
        "POST /studios/{studio}/bookings/{id}/cancel",
        (_REASON,),
        f"{AN_ID} --yes",
        question=_cost_of_cancelling,
    ),
    Request(
        "bookings moves",
        "list the classes that a booking was moved from",
        "GET /studios/{studio}/bookings/{id}/reschedules",
        (LIMIT,),
        columns=("id", "at", "from_class_id", "credits_charged"),
    ),
    Request(
        "memberships list",
        "list a member's memberships",
        "GET /studios/{studio}/members/{member_id}/memberships",
        (LIMIT,),
        "ada@example.com",
        ("id", "status", "auto_renew", "product_id"),
    ),
    Request(
        "memberships pause",
        "pause a membership",
        "POST /studios/{studio}/memberships/{id}/pause",
        (
            option("--for", duration, "it resumes by itself", field="length", metavar="30d"),
            option("--until", moment, "it resumes then", field="resumes_at"),
            _REASON,
        ),
        f"{AN_ID} --for 30d",
        prepare=_end_of_pause,
        check=_two_ends_of_pause,
    ),
    Request(
        "memberships resume", "resume a paused membership", "POST /studios/{studio}/memberships/{id}/resume"
    ),
    Request(
        "memberships cancel",
        "cancel a membership",
        "POST /studios/{studio}/memberships/{id}/cancel",
        (flag("--at-period-end", "at the end of the paid period instead of now"), _REASON),
        f"{AN_ID} --at-period-end",
        question=_end_of_membership,
    ),
    Request(
        "purchases record",
        "record a purchase; a completed one grants its credits",
        "POST /studios/{studio}/purchases",
        (
            required(_MEMBER),
            required(option("--product", an_id, field="product_id")),
            option("--quantity", positive, "1 by default"),
            option("--amount", amount, "the total", field="amount_total", metavar="49.90"),
            option("--currency", currency, metavar="EUR"),
            option("--status", Literal["completed", "pending"], "completed by default"),
            option("--location", an_id, "where it was bought", field="location_id"),
        ),
        f"--member ada@example.com --product {AN_ID} --amount 49.90 --currency EUR",
    ),
    Request(
        "purchases list",
        "list purchases, oldest first",
        "GET /studios/{studio}/purchases",
        (_MEMBER, LIMIT),
        "--member ada@example.com",
        ("id", "created_at", "product_key", "quantity", "amount_total", "currency", "status"),
    ),
)
