"""Free text: limited in length, otherwise unrestricted."""

from services.forms.rules.answer_values import Answer
from services.forms.rules.field_checks.answer_problem import ONE_TEXT, FieldContext, Finding

MAX_TEXT_LENGTH = 5_000
MAX_TEXTAREA_LENGTH = 50_000
MAX_ADDRESS_LENGTH = 2_000
# A drawn signature comes as a data: URI.
MAX_SIGNATURE_LENGTH = 200_000


def check_text(context: FieldContext, answer: Answer) -> Finding | None:
    return _bounded(answer, MAX_TEXT_LENGTH)


def check_textarea(context: FieldContext, answer: Answer) -> Finding | None:
    return _bounded(answer, MAX_TEXTAREA_LENGTH)


def check_signature(context: FieldContext, answer: Answer) -> Finding | None:
    return _bounded(answer, MAX_SIGNATURE_LENGTH)


def check_address(context: FieldContext, answer: Answer) -> Finding | None:
    """One string, or one string per address line."""
    return _bounded("\n".join(answer) if isinstance(answer, list) else answer, MAX_ADDRESS_LENGTH)


def check_section_break(context: FieldContext, answer: Answer) -> Finding | None:
    return Finding("A section break takes no answer.", "not_answerable")


def _bounded(answer: Answer, longest: int) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    if len(answer) > longest:
        return Finding(f"{len(answer)} characters; at most {longest} are allowed.", "string_too_long")
    return None
