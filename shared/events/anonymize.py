"""Removes a person's data from a stored event. Ids, states and times stay."""

from collections.abc import Collection
from typing import Any

# Personal fields of members, leads and submissions.
BLANKED = {"name": "", "first_name": "", "last_name": "", "submitter_name": "", "phone": None, "notes": None}
EMAILS = frozenset({"email", "submitter_email"})
EMPTIED = frozenset({"metadata", "data"})
# The source of a lead is free text. These values from the specification are not personal.
KNOWN_SOURCES = ("partner_api", "waitlist")


def anonymize(value: Any, ids: Collection[str], emails: Collection[str]) -> Any:
    """`value` with every object about the person blanked. Other people's data is unchanged."""
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
