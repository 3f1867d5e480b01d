"""A lead's metadata: what may be written into it, and what the server adds."""

from datetime import datetime
from typing import Any

from services.forms.rules.nesting import too_deep, too_large
from services.forms.wire.json_text import read_json, write_json
from shared.errors import Invalid, Problem

LOC = ("body", "metadata")
FORM_CONTEXT = "form_submissions"
# The newest are kept: a person who submits every day must not make the lead unreadable.
MOST_CONTEXT = 100


def require_sound_metadata(sent: Any) -> None:
    """`form_submissions` is where the server adds form context, so it stays a list."""
    problems = too_deep(sent, LOC)
    context = sent.get(FORM_CONTEXT)
    if context is not None and not isinstance(context, list):
        problems.append(Problem((*LOC, FORM_CONTEXT), "The server keeps a list here.", "list_type"))
    elif context is not None and len(context) > MOST_CONTEXT:
        text = f"{len(context)} entries; at most {MOST_CONTEXT} are kept."
        problems.append(Problem((*LOC, FORM_CONTEXT), text, "too_long"))
    if problems:
        raise Invalid(problems)


def metadata_text(metadata: dict[str, Any]) -> str:
    """What the server added does not count: it must not make the partner's next change too large."""
    own = {key: value for key, value in metadata.items() if key != FORM_CONTEXT}
    if problems := too_large(write_json(own), LOC):
        raise Invalid(problems)
    return write_json(metadata)


def with_blanks_filled(stored: str | bytes, given: dict[str, Any]) -> dict[str, Any]:
    """What is there stays; only keys that are missing are added."""
    kept: dict[str, Any] = read_json(stored)
    return kept | {key: value for key, value in given.items() if key not in kept}


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
    return write_json(metadata | {FORM_CONTEXT: context[-MOST_CONTEXT:]})
