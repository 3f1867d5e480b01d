"""Checks answers that are chosen from options."""

from decimal import Decimal
from typing import Any

from services.forms.rules.answer_values import Answer, as_decimal, number_key
from services.forms.rules.field_checks.answer_problem import ONE_TEXT, FieldContext, Finding

_TICKED = ("true", "false")


def option_value(option: Any) -> str | None:
    """The value of a string, number (its key), or object with a `value`; None for anything else."""
    if isinstance(option, dict):
        option = option.get("value")
    if isinstance(option, str):
        return option
    if isinstance(option, bool) or not isinstance(option, (int, float, Decimal)):
        return None
    return number_key(Decimal(str(option)))


def check_select(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list) and not context.field.multiple:
        return ONE_TEXT
    return _offered(context, answer)


def check_checkbox_group(context: FieldContext, answer: Answer) -> Finding | None:
    """A single string counts as one choice. A group without options accepts anything."""
    return _offered(context, answer) if context.field.options else None


def check_checkbox(context: FieldContext, answer: Answer) -> Finding | None:
    if answer not in _TICKED:
        return Finding('A checkbox must be "true" or "false".', "bool_parsing")
    return None


def check_consent(context: FieldContext, answer: Answer) -> Finding | None:
    if answer not in _TICKED:
        return Finding('A consent must be "true" or "false".', "bool_parsing")
    if context.field.required and answer == "false":
        return Finding("This consent must be given.", "consent_required")
    return None


def _offered(context: FieldContext, answer: Answer) -> Finding | None:
    chosen = answer if isinstance(answer, list) else [answer]
    offered = {option_value(option) for option in context.field.options or ()}
    # A number may come as the form has it or as a widget prints it: 1.10 and 1.1 are the same option.
    options = [text if text in offered else number_key(as_decimal(text)) for text in chosen]
    if None in options or not offered.issuperset(options):
        return Finding("Choose one of the form's options.", "not_an_option")
    if len(set(options)) < len(options):
        return Finding("Each option can be chosen only once.", "duplicate_option")
    return None
