"""Removes a person's data from a stored event. Ids, states and times stay."""

from collections.abc import Collection
from typing import Any

# Personal fields of members, leads and submissions.
BLANKED = {"name": "", "first_name": "", "last_name": "", "submitter_name": "", "phone": None, "notes": None}
EMAILS = frozenset({"email", "submitter_email"})
EMPTIED = frozenset({"metadata", "data"})
# The source of a lead is free text. These values from the specification are not personal.
KNOWN_SOURCES = ("partner_api", "waitlist")
ERASED_DOMAIN = "@erased.invalid"


def anonymize(value: Any, ids: Collection[str], emails: Collection[str]) -> Any:
    """`value` with every object about the person blanked. Other people's data is unchanged."""
    if isinstance(value, list):
        return [anonymize(item, ids, emails) for item in value]
    if isinstance(value, str):
        return f"erased{ERASED_DOMAIN}" if value.lower() in emails else value
    if not isinstance(value, dict):
        return value
    if value.get("id") in ids or any(str(value.get(key, "")).lower() in emails for key in EMAILS):
        return {key: _blank(key, item, str(value.get("id", "person"))) for key, item in value.items()}
    if value.get("member_id") in ids:
        return {key: _without_reason(item) for key, item in value.items()}
    blanked = {key: anonymize(item, ids, emails) for key, item in value.items()}
    if _is_about(value.get("object"), ids, emails):
        # An event's old values are next to the person's object and do not contain the person's id.
        previous = value.get("previous")
        if isinstance(previous, dict):
            blanked["previous"] = {
                key: _without_reason(_blank(key, old, "person")) for key, old in previous.items()
            }
    return blanked


def _is_about(value: Any, ids: Collection[str], emails: Collection[str]) -> bool:
    if not isinstance(value, dict):
        return False
    known = value.get("id") in ids or value.get("member_id") in ids
    return known or any(str(value.get(key, "")).lower() in emails for key in EMAILS)


def _without_reason(item: Any) -> Any:
    """The reason of a pause or a cancellation is what staff wrote about the member."""
    return item | {"reason": None} if isinstance(item, dict) and "reason" in item else item


def _blank(key: str, item: Any, owner: str) -> Any:
    if key in EMAILS:
        return None if item is None else f"erased-{owner}{ERASED_DOMAIN}"
    if key in BLANKED:
        return BLANKED[key] if item is not None else None
    if key == "source" and item not in KNOWN_SOURCES:
        return None
    if key in EMPTIED and isinstance(item, dict):
        return {}
    return item


def merge_anonymized(newer: Any, stored: Any) -> Any:
    """`newer` without what is blank in `stored`: copies of one event, anonymized for different people."""
    if isinstance(newer, dict) and isinstance(stored, dict) and newer.keys() == stored.keys():
        return {key: merge_anonymized(item, stored[key]) for key, item in newer.items()}
    if isinstance(newer, list) and isinstance(stored, list) and len(newer) == len(stored):
        return [merge_anonymized(*items) for items in zip(newer, stored, strict=True)]
    return stored if _is_blank(stored) and not _is_blank(newer) else newer


def _is_blank(value: Any) -> bool:
    return value in (None, "", {}) or (isinstance(value, str) and value.endswith(ERASED_DOMAIN))
