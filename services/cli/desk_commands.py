"""The desk's commands: classes, bookings, members, memberships, purchases and events of one studio."""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

from services.cli.confirm import confirm
from services.cli.desk import Desk
from services.cli.errors import CommandFailed
from services.cli.output import show, when
from services.cli.values import in_zone
from shared.settings import Settings

# Options of `classes create` and `classes change` that go into the body as they are.
CLASS_FIELDS = {
    "title": "title",
    "capacity": "capacity",
    "location": "location_id",
    "room": "room_id",
    "instructor": "instructor_id",
    "class_type": "class_type_id",
    "waitlist": "allow_waitlist",
    "waitlist_capacity": "waitlist_capacity",
    "credits": "credit_cost",
    "visible": "visible",
    "status": "status",
}


def list_classes(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    midnight = datetime.now(desk.zone).replace(hour=0, minute=0, second=0, microsecond=0)
    query = {
        "starts_after": in_zone(given.since or midnight, desk.zone),
        "starts_before": in_zone(given.until, desk.zone) if given.until else None,
        "status": given.status,
        "location_id": given.location,
    }
    columns = ("id", "start_time", "title", "booked_count", "capacity", "status")
    show(desk.rows("/classes", given.limit, **query), as_json=given.json, columns=columns, zone=desk.zone)


def _class_body(given: argparse.Namespace) -> dict[str, Any]:
    values = {field: getattr(given, option, None) for option, field in CLASS_FIELDS.items()}
    return {field: value for field, value in values.items() if value is not None}


def create_class(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    start = in_zone(given.start, desk.zone)
    end = datetime.fromisoformat(start) + timedelta(seconds=given.duration)
    times = {"start_time": start, "end_time": end.isoformat()}
    show(desk.post("/classes", _class_body(given) | times), as_json=given.json, zone=desk.zone)


def change_class(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    body = _class_body(given)
    if given.start is not None or given.duration is not None:
        body |= _moved(desk, given)
    if not body:
        raise CommandFailed(
            "Give at least one change; `studioctl classes change --help` lists the options.", exit_code=2
        )
    show(desk.patch(f"/classes/{given.id}", body), as_json=given.json, zone=desk.zone)


def _moved(desk: Desk, given: argparse.Namespace) -> dict[str, str]:
    """A class that is moved keeps its duration unless a new one is given."""
    now = desk.get(f"/classes/{given.id}")
    start, end = (datetime.fromisoformat(now[name]) for name in ("start_time", "end_time"))
    length = end - start if given.duration is None else timedelta(seconds=given.duration)
    if given.start is not None:
        start = datetime.fromisoformat(in_zone(given.start, desk.zone))
    return {"start_time": start.isoformat(), "end_time": (start + length).isoformat()}


def cancel_class(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    class_ = desk.get(f"/classes/{given.id}")
    confirm(
        f"{class_['title']} on {when(class_['start_time'], desk.zone)} will be cancelled for good, "
        f"with {class_['booked_count']} bookings and its waitlist.",
        yes=given.yes,
    )
    answer = desk.post(f"/classes/{given.id}/cancel", {"reason": given.reason})
    show(answer, as_json=given.json, zone=desk.zone)


def show_roster(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    roster = desk.rows(f"/classes/{given.id}/roster", given.limit, status=given.status)
    # First those with a seat, in order of booking, then those waiting, in order of the waitlist.
    roster["data"].sort(key=lambda row: row["waitlist_position"] or 0)
    columns = ("id", "member_name", "status", "waitlist_position", "member_email")
    show(roster, as_json=given.json, columns=columns, zone=desk.zone)


def move_booking(settings: Settings, given: argparse.Namespace) -> None:
    """Check in, undo it, or mark a no-show: the path is the command."""
    desk = Desk.open(settings, given.studio)
    show(desk.post(f"/bookings/{given.id}/{given.act}"), as_json=given.json, zone=desk.zone)


def cancel_booking(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    if not given.yes:
        costs = desk.get(f"/bookings/{given.id}/cancellation-preview")
        fee = f"{costs['late_fee_amount']} {costs['late_fee_currency']}" if costs["late_fee_amount"] else "no"
        lost = costs["credits_forfeited"]
        confirm(f"The booking will be cancelled, with {fee} late fee and {lost} credits lost.", yes=False)
    answer = desk.post(f"/bookings/{given.id}/cancel", {"reason": given.reason})
    show(answer, as_json=given.json, zone=desk.zone)


def list_members(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    columns = ("id", "name", "email", "phone", "credits", "suspended")
    show(desk.rows("/members", given.limit, email=given.email), as_json=given.json, columns=columns)


def show_member(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    show(desk.get(f"/members/{desk.member_id(given.member)}"), as_json=given.json, zone=desk.zone)


def export_member(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    member_id = desk.member_id(given.member)
    desk.operators.copy("/export", sys.stdout.buffer, studio=desk.studio["id"], member_id=member_id)


def list_memberships(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    rows = desk.rows(f"/members/{desk.member_id(given.member)}/memberships", given.limit)
    columns = ("id", "status", "auto_renew", "product_id")
    show(rows, as_json=given.json, columns=columns, zone=desk.zone)


def pause_membership(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    until = in_zone(given.until, desk.zone) if given.until else None
    if given.length is not None:
        until = (datetime.now(UTC) + timedelta(seconds=given.length)).isoformat()
    body = {"resumes_at": until, "reason": given.reason}
    show(desk.post(f"/memberships/{given.id}/pause", body), as_json=given.json, zone=desk.zone)


def resume_membership(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    show(desk.post(f"/memberships/{given.id}/resume"), as_json=given.json, zone=desk.zone)


def cancel_membership(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    moment = "at the end of its period" if given.at_period_end else "now"
    confirm(f"The membership will be cancelled {moment}, for good.", yes=given.yes)
    body = {"at_period_end": given.at_period_end, "reason": given.reason}
    show(desk.post(f"/memberships/{given.id}/cancel", body), as_json=given.json, zone=desk.zone)


def record_purchase(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    body = {
        "member_id": desk.member_id(given.member),
        "product_id": given.product,
        "quantity": given.quantity,
        "amount_total": given.amount,
        "currency": given.currency,
        "status": given.status,
        "location_id": given.location,
    }
    sent = {name: value for name, value in body.items() if value is not None}
    show(desk.post("/purchases", sent), as_json=given.json, zone=desk.zone)


def list_purchases(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    member = desk.member_id(given.member) if given.member else None
    columns = ("id", "created_at", "product_key", "quantity", "amount_total", "currency", "status")
    rows = desk.rows("/purchases", given.limit, member_id=member)
    show(rows, as_json=given.json, columns=columns, zone=desk.zone)
