"""What counts as a phone number, for leads, members and form answers. Nothing is dialled or looked up."""

import zoneinfo
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from shared.errors import Problem

MAX_PHONE_LENGTH = 50
PHONE_RULE = (
    "A possible phone number, with its country code, like +44 20 7946 0018, or as it is dialled "
    "in the studio's country, which follows from its time zone. An empty or blank string means no number."
)
PHONE_PROBLEM = "A phone number with its country code, like +44 20 7946 0018."
PHONE_PROBLEM_TYPE = "phone_parsing"
TABLE = "zone.tab"

Phone = Annotated[
    str, Meta(max_length=MAX_PHONE_LENGTH, description=PHONE_RULE, extra_json_schema={"format": "phone"})
]


def is_phone(text: str, region: str | None) -> bool:
    """Whether its length is possible in its country. It may still not be in use."""
    if len(text) > MAX_PHONE_LENGTH:
        return False
    # Not above: its tables are 5 MB, and many studios and replicas never see a phone number.
    import phonenumbers

    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number(number)


def calling_code(region: str | None) -> int | None:
    """That of a country, such as 1 for `US`."""
    if region is None:
        return None
    import phonenumbers

    return phonenumbers.country_code_for_region(region) or None


def phone_problems(phone: object, region: str | None) -> list[Problem]:
    """Problems of a body's `phone`. Null, missing, empty and blank mean no number, as in a form answer."""
    if not isinstance(phone, str) or not phone.strip() or is_phone(phone, region):
        return []
    return [Problem(("body", "phone"), PHONE_PROBLEM, PHONE_PROBLEM_TYPE)]


@cache
def read_regions() -> Mapping[str, str]:
    """The country of each time zone, as the time zone database itself lists it.

    Empty where the machine has no such table: then phone numbers need their country code.
    """
    rows = [line.split("\t") for line in (_table() or "").splitlines() if line and not line.startswith("#")]
    return {row[2]: row[0] for row in rows if len(row) > 2}


def region_of(timezone: str | None) -> str | None:
    """The country of phone numbers that are written without their country code."""
    return read_regions().get(timezone or "")


def _table() -> str | None:
    for folder in zoneinfo.TZPATH:
        path = Path(folder) / TABLE
        if path.is_file():
            return path.read_text(encoding="utf-8")
    try:
        return (resources.files("tzdata.zoneinfo") / TABLE).read_text(encoding="utf-8")
    except (ModuleNotFoundError, FileNotFoundError):
        return None
