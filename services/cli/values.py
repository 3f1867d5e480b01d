"""Values on the command line: how each is read, and the options that several commands have.

A bad value is explained in words; Typer prints the explanation and exits with code 2.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any

from typer import Argument, BadParameter, Option

_DURATION = re.compile(r"(\d{1,9})([smhdw]?)\Z")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,98}[a-z0-9])?\Z")
_AMOUNT = re.compile(r"\d{1,9}(?:\.\d{1,2})?\Z")


def port(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise BadParameter(f"{text!r} is not a port number from 1 to 65535")
    return int(text)


def duration(text: str) -> int:
    """Seconds."""
    found = _DURATION.match(text)
    if found is None:
        raise BadParameter(f"{text!r} is not a duration; write 90d, 24h, 30m or 45s")
    return int(found[1]) * _UNITS[found[2]]


def ago(text: str) -> datetime:
    """`24h` means 24 hours ago."""
    return datetime.now(UTC) - timedelta(seconds=duration(text))


def moment(text: str) -> datetime:
    """A day, or a time of day; without an offset it is the studio's own time (see `in_zone`)."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadParameter(
            f"{text!r} is not a time; write 2026-08-03, 2026-08-03T18:30 (the studio's own time) "
            "or 2026-08-03T18:30+02:00"
        ) from None


def ago_or_moment(text: str) -> datetime:
    return ago(text) if _DURATION.match(text) else moment(text)


def in_zone(given: datetime, zone: tzinfo) -> datetime:
    """With an offset, which the API requires."""
    return given if given.tzinfo else given.replace(tzinfo=zone)


def span(seconds: float) -> str:
    """A duration as it is typed: 45s, 30m, 24h, 7d."""
    for letter, unit in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * unit:
            return f"{int(seconds // unit)}{letter}"
    return f"{int(seconds)}s"


def an_id(text: str) -> str:
    # Not above: everything in `shared` loads the log library, which `--help` does not need.
    from shared.wire import is_id

    if not is_id(text):
        raise BadParameter(f"{text!r} is not an id; an id has 36 characters, as the lists show it")
    return text.lower()


def email_or_id(text: str) -> str:
    """A member. The desk usually knows the email; it is looked up when the studio is known."""
    if "@" in text:
        return text
    try:
        return an_id(text)
    except BadParameter:
        raise BadParameter(f"{text!r} is neither an email nor an id.") from None


def count(text: str) -> int:
    if not text.isdigit() or len(text) > 9:
        raise BadParameter(f"{text!r} is not a whole number")
    return int(text)


def positive(text: str) -> int:
    if count(text) == 0:
        raise BadParameter("write a whole number, 1 or more")
    return int(text)


def jump(text: str) -> int:
    """A smaller one would be a gap of lost events to the checks of a restored database."""
    if count(text) < 1_000_000:
        raise BadParameter("write a whole number, 1000000 or more")
    return int(text)


def slug(text: str) -> str:
    if not _SLUG.match(text):
        raise BadParameter(
            f"{text!r} is not a slug; use up to 100 lower-case letters, digits, - and _, "
            "with a letter or digit at both ends"
        )
    return text


def comma_separated(text: str) -> list[str]:
    """An empty list, as from an unset shell variable, must not mean "everything"."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise BadParameter("it is empty; omit it or give a value.")
    return parts


def amount(text: str) -> str:
    if not _AMOUNT.match(text):
        raise BadParameter(f"{text!r} is not an amount; write 49 or 49.90")
    return text


def currency(text: str) -> str:
    if len(text) != 3 or not text.isascii() or not text.isalpha():
        raise BadParameter(f"{text!r} is not a currency; write three letters, such as EUR")
    return text.upper()


# What the help shows in the place of such a value.
METAVARS: dict[Callable[[str], Any], str] = {
    an_id: "ID",
    email_or_id: "EMAIL|ID",
    moment: "TIME",
    count: "N",
    positive: "N",
}
Id = Annotated[str, Argument(parser=an_id, metavar="ID")]
Member = Annotated[str, Argument(parser=email_or_id, metavar="EMAIL|ID")]
Studio = Annotated[str | None, Option(metavar="SLUG|ID", help="needed when there is more than one")]
Limit = Annotated[int, Option(parser=positive, metavar="N", help="how many rows")]
Yes = Annotated[bool, Option("--yes", help="do not ask")]
