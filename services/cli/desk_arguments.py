"""Arguments of the desk's commands."""

import argparse

from services.cli import desk_commands as run
from services.cli import webhook_commands
from services.cli.command_words import (
    Words,
    command,
    group,
    id_argument,
    limit_option,
    studio_option,
    yes_option,
)
from services.cli.values import ago_or_moment, amount, an_id, count, currency, duration, moment, positive

_ID = "8c1f5e0a-3b0e-4d52-9a41-3f2f7f9b0c55"
_BOOKING_STATUS = ("confirmed", "waitlisted", "checked_in", "no_show", "cancelled", "expired")


def add_desk_commands(words: Words) -> None:
    _classes(group(words, "classes", "the timetable"))
    _bookings(group(words, "bookings", "check in, mark no-shows, cancel"))
    _memberships(group(words, "memberships", "pause, resume and cancel memberships"))
    _purchases(group(words, "purchases", "what members bought"))
    events = command(
        group(words, "events", "the log of what happened"),
        "list",
        "list a studio's events, oldest first",
        webhook_commands.list_events,
        "events list --type booking.created",
    )
    events.add_argument("--type", metavar="KIND", help="only events of this kind")
    events.add_argument("--after", type=count, metavar="N", help="only events after this sequence number")
    _for_list(events)


def _for_list(parser: argparse.ArgumentParser) -> None:
    studio_option(parser)
    limit_option(parser)


def _for_one(parser: argparse.ArgumentParser) -> None:
    id_argument(parser)
    studio_option(parser)


def _class_options(parser: argparse.ArgumentParser, *, new: bool) -> None:
    parser.add_argument("--title", required=new)
    parser.add_argument(
        "--start", type=moment, required=new, metavar="TIME", help="2026-08-03T18:30 is the studio's own time"
    )
    parser.add_argument("--duration", type=duration, required=new, metavar="60m", help="how long it lasts")
    parser.add_argument("--capacity", type=count, required=new, metavar="N")
    for name in ("location", "room", "instructor", "class-type"):
        parser.add_argument(f"--{name}", type=an_id, metavar="ID")
    parser.add_argument("--waitlist", action=argparse.BooleanOptionalAction, help="whether people may wait")
    parser.add_argument("--waitlist-capacity", type=count, metavar="N", help="how many may wait")
    parser.add_argument("--credits", type=count, metavar="N", help="what a booking costs")
    parser.add_argument("--visible", action=argparse.BooleanOptionalAction, help="whether it can be booked")
    studio_option(parser)


def _classes(words: Words) -> None:
    listing = command(
        words, "list", "list classes from today on", run.list_classes, "classes list --until 2026-08-10"
    )
    listing.add_argument("--since", type=moment, metavar="TIME", help="first day or time (today)")
    listing.add_argument("--until", type=moment, metavar="TIME", help="last day or time")
    listing.add_argument("--status", choices=("scheduled", "completed", "cancelled"))
    listing.add_argument("--location", type=an_id, metavar="ID")
    _for_list(listing)
    create = command(
        words,
        "create",
        "schedule a class",
        run.create_class,
        "classes create --title Yoga --start 2026-08-03T18:30 --duration 60m --capacity 12 --waitlist",
    )
    _class_options(create, new=True)
    change = command(
        words,
        "change",
        "change a class; omitted options stay unchanged",
        run.change_class,
        f"classes change {_ID} --capacity 15",
    )
    id_argument(change)
    _class_options(change, new=False)
    change.add_argument("--status", choices=("scheduled", "completed"))
    cancel = command(
        words,
        "cancel",
        "cancel a class with all its bookings, without fees",
        run.cancel_class,
        f'classes cancel {_ID} --reason "storm"',
    )
    _for_one(cancel)
    cancel.add_argument("--reason")
    yes_option(cancel)
    roster = command(
        words, "roster", "list who comes to a class and who waits", run.show_roster, f"classes roster {_ID}"
    )
    id_argument(roster)
    roster.add_argument("--status", choices=_BOOKING_STATUS, help="all but cancelled and expired, by default")
    _for_list(roster)


def _bookings(words: Words) -> None:
    for name, path, about in (
        ("check-in", "check-in", "check a member in"),
        ("no-show", "no-show", "mark a no-show, once the class has started"),
        ("undo", "undo-check-in", "undo a check-in"),
    ):
        one = command(words, name, about, run.move_booking, f"bookings {name} {_ID}")
        one.set_defaults(act=path)
        _for_one(one)
    cancel = command(
        words,
        "cancel",
        "cancel a booking under the studio's policy",
        run.cancel_booking,
        f"bookings cancel {_ID} --yes",
    )
    _for_one(cancel)
    cancel.add_argument("--reason")
    yes_option(cancel)


def add_member_reads(words: Words) -> None:
    listing = command(
        words, "list", "list members, oldest first", run.list_members, "members list --email ada@example.com"
    )
    listing.add_argument("--email", help="only the member with this email")
    _for_list(listing)
    one = command(words, "show", "show a member", run.show_member, "members show ada@example.com")
    one.add_argument("member", metavar="EMAIL|ID")
    studio_option(one)
    copy = command(
        words,
        "export",
        "print the data stored about a member, one row per line, to give to the member",
        run.export_member,
        "members export ada@example.com > ada.ndjson",
    )
    copy.add_argument("member", metavar="EMAIL|ID")
    studio_option(copy)


def _memberships(words: Words) -> None:
    listing = command(
        words,
        "list",
        "list a member's memberships",
        run.list_memberships,
        "memberships list ada@example.com",
    )
    listing.add_argument("member", metavar="EMAIL|ID")
    _for_list(listing)
    pause = command(
        words, "pause", "pause a membership", run.pause_membership, f"memberships pause {_ID} --for 30d"
    )
    _for_one(pause)
    length = pause.add_mutually_exclusive_group()
    length.add_argument("--for", type=duration, dest="length", metavar="30d", help="it resumes by itself")
    length.add_argument("--until", type=moment, metavar="TIME", help="it resumes then")
    pause.add_argument("--reason")
    resume = command(
        words, "resume", "resume a paused membership", run.resume_membership, f"memberships resume {_ID}"
    )
    _for_one(resume)
    cancel = command(
        words,
        "cancel",
        "cancel a membership",
        run.cancel_membership,
        f"memberships cancel {_ID} --at-period-end",
    )
    _for_one(cancel)
    cancel.add_argument(
        "--at-period-end", action="store_true", help="at the end of the paid period instead of now"
    )
    cancel.add_argument("--reason")
    yes_option(cancel)


def _purchases(words: Words) -> None:
    record = command(
        words,
        "record",
        "record a purchase; a completed one grants its credits",
        run.record_purchase,
        f"purchases record --member ada@example.com --product {_ID} --amount 49.90 --currency EUR",
    )
    record.add_argument("--member", required=True, metavar="EMAIL|ID")
    record.add_argument("--product", required=True, type=an_id, metavar="ID")
    record.add_argument("--quantity", type=positive, metavar="N", help="1 by default")
    record.add_argument("--amount", type=amount, metavar="49.90", help="the total")
    record.add_argument("--currency", type=currency, metavar="EUR")
    record.add_argument("--status", choices=("completed", "pending"), help="completed by default")
    record.add_argument("--location", type=an_id, metavar="ID", help="where it was bought")
    studio_option(record)
    listing = command(
        words,
        "list",
        "list purchases, oldest first",
        run.list_purchases,
        "purchases list --member ada@example.com",
    )
    listing.add_argument("--member", metavar="EMAIL|ID")
    _for_list(listing)


def add_webhook_commands(words: Words) -> None:
    endpoints = command(
        words, "endpoints", "list endpoints", webhook_commands.list_endpoints, "webhooks endpoints"
    )
    _for_list(endpoints)
    deliveries = command(
        words,
        "deliveries",
        "list deliveries, oldest first",
        webhook_commands.list_deliveries,
        "webhooks deliveries --status dead",
    )
    deliveries.add_argument("--status", choices=("pending", "succeeded", "dead"))
    deliveries.add_argument("--endpoint", type=an_id, metavar="ID")
    _for_list(deliveries)
    retry = command(
        words, "retry", "retry a delivery now", webhook_commands.retry_delivery, f"webhooks retry {_ID}"
    )
    _for_one(retry)
    recover = command(
        words,
        "recover",
        "send again what an endpoint missed",
        webhook_commands.recover_endpoint,
        f"webhooks recover {_ID} --since 24h",
    )
    _for_one(recover)
    recover.add_argument(
        "--since", type=ago_or_moment, required=True, metavar="24h|TIME", help="how far back, or since when"
    )
