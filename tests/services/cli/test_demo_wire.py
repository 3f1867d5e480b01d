"""The demo's lines have the form that the owning services accept."""

from datetime import date
from typing import Any

import msgspec
import pytest

from services.bookings.wire.bookings import Booking, WaitlistEntry
from services.bookings.wire.classes import Class, ClassSpot
from services.bookings.wire.import_lines import AnyImported as BookingsLine
from services.bookings.wire.members import Member, Membership, Purchase
from services.catalog.wire.import_lines import AnyImported as CatalogLine
from services.catalog.wire.resources import ClassType, Instructor, Location, Product, Room, Studio
from services.cli.demo import demo_lines
from services.forms.wire.forms import Form, FormField, FormSettings
from services.forms.wire.import_lines import AnyImported as FormsLine
from services.forms.wire.leads import Lead
from services.forms.wire.submissions import FormSubmission
from shared.emails import normalize_email

KINDS: dict[str, Any] = {
    "studio": Studio,
    "location": Location,
    "room": Room,
    "class_type": ClassType,
    "instructor": Instructor,
    "product": Product,
    "member": Member,
    "membership": Membership,
    "purchase": Purchase,
    "class": Class,
    "class_spot": ClassSpot,
    "booking": Booking,
    "waitlist": WaitlistEntry,
    "form": Form,
    "lead": Lead,
    "form_submission": FormSubmission,
}
LINES = list(demo_lines(date(2026, 8, 3)))


@pytest.mark.parametrize("kind", KINDS)
def test_lines_decode_as_the_resource_their_service_answers(kind: str) -> None:
    """The import takes resources as GET returns them, plus hidden fields."""
    own = [line for line in LINES if line["object"] == kind]
    assert own
    for line in own:
        msgspec.json.decode(msgspec.json.encode(line), type=KINDS[kind])


def test_no_line_is_of_an_unknown_kind() -> None:
    """A kind nobody imports would be reported as a bad line."""
    assert {line["object"] for line in LINES} == set(KINDS)


def test_form_fields_and_settings_decode_too() -> None:
    """A form's JSON is stored unchanged, so it has to be right in the demo."""
    for line in LINES:
        if line["object"] == "form":
            fields = msgspec.convert(line["fields"], list[FormField])
            keys = {field.key for field in fields}
            assert all(field.display_when is None or field.display_when.field_key in keys for field in fields)
            msgspec.convert(line["settings"], FormSettings)


def test_emails_are_already_normalized() -> None:
    """Normalizing an imported address must not change it."""
    emails = [line["email"] for line in LINES if line["object"] in ("member", "lead")]
    assert all(email == normalize_email(str(email)) for email in emails)


@pytest.mark.parametrize(
    ("owner", "kinds"),
    [
        (CatalogLine, {"studio", "location", "room", "class_type", "instructor", "product"}),
        (
            BookingsLine,
            {"studio", "location", "product", "member", "membership", "purchase"}
            | {"class", "class_spot", "booking", "waitlist"},
        ),
        (FormsLine, {"studio", "form", "form_submission", "lead"}),
    ],
    ids=["catalog", "bookings", "forms"],
)
def test_lines_decode_as_the_import_of_their_owner_takes_them(owner: Any, kinds: set[str]) -> None:
    """An import refuses fields it does not know, so every hidden field has to be spelt right."""
    for line in LINES:
        if line["object"] in kinds:
            msgspec.json.decode(msgspec.json.encode(line), type=owner)
