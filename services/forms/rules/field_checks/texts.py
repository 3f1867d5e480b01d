"""Free texts: bounded, otherwise as the person wrote them."""

from services.forms.rules.answer_values import Answer
from services.forms.rules.field_checks.finding import ONE_TEXT, Asked, Finding

LONGEST_TEXT = 5_000
LONGEST_TEXTAREA = 50_000
LONGEST_ADDRESS = 2_000
# A drawn signature comes as a data: URI.
LONGEST_SIGNATURE = 200_000


def check_text(asked: Asked, answer: Answer) -> Finding | None:
    return _bounded(answer, LONGEST_TEXT)


def check_textarea(asked: Asked, answer: Answer) -> Finding | None:
    return _bounded(answer, LONGEST_TEXTAREA)


def check_signature(asked: Asked, answer: Answer) -> Finding | None:
    return _bounded(answer, LONGEST_SIGNATURE)


def check_address(asked: Asked, answer: Answer) -> Finding | None:
    """One text, or the address line by line."""
    return _bounded("\n".join(answer) if isinstance(answer, list) else answer, LONGEST_ADDRESS)


def check_section_break(asked: Asked, answer: Answer) -> Finding | None:
    return Finding("A section break takes no answer.", "not_answerable")


def _bounded(answer: Answer, longest: int) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    if len(answer) > longest:
        return Finding(f"{len(answer)} characters; at most {longest} are taken.", "string_too_long")
    return None
