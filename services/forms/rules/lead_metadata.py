"""A lead's metadata: what partners may write, and what the server adds."""

from datetime import datetime
from typing import Any

from msgspec import UNSET, Raw, UnsetType

from services.forms.rules.json_limits import too_deep, too_large
from services.forms.wire.json_text import read_json, write_json
from shared.errors import Invalid, Problem
from shared.wire import is_id

LOC = ("body", "metadata")
FORM_CONTEXT = "form_submissions"
# Only the newest entries are kept, so that daily submissions cannot grow a lead without bound.
MAX_FORM_CONTEXT = 100
ENTRY = frozenset({"form_id", "form_slug", "submission_id", "submitted_at"})
# Bytes of the longest entry that the server writes; anything longer counts as the partner's own.
MAX_ENTRY_LENGTH = 500


def metadata_problems(sent: Any) -> list[Problem]:
    """`form_submissions` is where the server adds form context, so it stays a list."""
    problems = too_deep(sent, LOC)
    context = sent.get(FORM_CONTEXT)
    if context is not None and not isinstance(context, list):
        problems.append(
            Problem((*LOC, FORM_CONTEXT), "This key must be a list; the server adds to it.", "list_type")
        )
    elif context is not None and len(context) > MAX_FORM_CONTEXT:
        text = f"{len(context)} entries; at most {MAX_FORM_CONTEXT} are kept."
        problems.append(Problem((*LOC, FORM_CONTEXT), text, "too_long"))
    return problems


def sent_metadata(
    sent: Raw | UnsetType, utm_source: str | UnsetType = UNSET, utm_campaign: str | UnsetType = UNSET
) -> dict[str, Any]:
    """The metadata that a partner sent, with the campaign's names."""
    metadata: dict[str, Any] = read_json(sent) if isinstance(sent, Raw) else {}
    named = {"utm_source": utm_source, "utm_campaign": utm_campaign}
    return metadata | {name: value for name, value in named.items() if value is not UNSET}


def metadata_text(metadata: dict[str, Any]) -> str:
    """Raises `Invalid` where it is too large."""
    if problems := size_problems(metadata):
        raise Invalid(problems)
    return write_json(metadata)


def with_blanks_filled(stored: bytes, given: dict[str, Any]) -> bytes:
    """Keeps what is stored; missing, null and empty values take the given ones.

    If the result would be too large, nothing changes and the lead is still identified.
    """
    kept: dict[str, Any] = read_json(stored)
    filled = kept | {
        key: value for key, value in given.items() if key not in kept or _fills(kept[key], value)
    }
    return stored if size_problems(filled) else write_json(filled).encode()


def is_blank(value: Any) -> bool:
    return value is None or value == ""


def _fills(kept: Any, given: Any) -> bool:
    return is_blank(kept) and not is_blank(given)


def size_problems(metadata: dict[str, Any]) -> list[Problem]:
    """What the server adds does not count, or it could make the partner's next change too large."""
    context = metadata.get(FORM_CONTEXT)
    counted = {key: value for key, value in metadata.items() if key != FORM_CONTEXT}
    if isinstance(context, list) and (theirs := [entry for entry in context if not _is_ours(entry)]):
        counted[FORM_CONTEXT] = theirs
    return too_large(write_json(counted), LOC)


def _is_ours(entry: Any) -> bool:
    """An entry as `with_form_context` writes it, and no larger."""
    if (
        not isinstance(entry, dict)
        or set(entry) != ENTRY
        or len(write_json(entry).encode()) > MAX_ENTRY_LENGTH
    ):
        return False
    return all(isinstance(entry[name], str) and is_id(entry[name]) for name in ("form_id", "submission_id"))


def with_form_context(
    stored: str | bytes, *, form_id: str, form_slug: str, submission_id: str, at: datetime
) -> str:
    metadata: dict[str, Any] = read_json(stored)
    before = metadata.get(FORM_CONTEXT)
    entry = {
        "form_id": form_id,
        "form_slug": form_slug,
        "submission_id": submission_id,
        "submitted_at": at,
    }
    context = [*before, entry] if isinstance(before, list) else [entry]
    return write_json(metadata | {FORM_CONTEXT: context[-MAX_FORM_CONTEXT:]})


def merge_patch(target: Any, patch: Any) -> Any:
    """A new value; neither argument is changed. Depth is bounded before (`rules/json_limits.py`)."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged
