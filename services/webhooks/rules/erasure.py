"""What is left of a person's data in a stored event: ids, states and times, nothing that names anybody."""

from collections.abc import Collection
from typing import Any

# The fields of members, leads and submissions that are about a person.
BLANKED = {"name": "", "first_name": "", "last_name": "", "submitter_name": "", "phone": None, "notes": None}
EMAILS = frozenset({"email", "submitter_email"})
EMPTIED = frozenset({"metadata", "data"})
# Where a lead came from is free text; the specification's own words name nobody.
KNOWN_SOURCES = ("partner_api", "waitlist")


def anonymize(value: Any, ids: Collection[str], emails: Collection[str]) -> Any:
    """`value` with every object that is about the person blanked; what is about others stays as it was."""
    if isinstance(value, list):
        return [anonymize(item, ids, emails) for item in value]
    if isinstance(value, str):
        return "erased@erased.invalid" if value.lower() in emails else value
    if not isinstance(value, dict):
        return value
    if value.get("id") in ids or any(str(value.get(key, "")).lower() in emails for key in EMAILS):
        return {key: _blank(key, item, str(value.get("id", "person"))) for key, item in value.items()}
    return {key: anonymize(item, ids, emails) for key, item in value.items()}


def _blank(key: str, item: Any, owner: str) -> Any:
    if key in EMAILS:
        return None if item is None else f"erased-{owner}@erased.invalid"
    if key in BLANKED:
        return BLANKED[key] if item is not None else None
    if key == "source" and item not in KNOWN_SOURCES:
        return None
    if key in EMPTIED and isinstance(item, dict):
        return {}
    return item
