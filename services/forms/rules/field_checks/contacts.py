"""Emails and phone numbers, checked by libraries. Nothing is looked up on the network."""

from services.forms.rules.answer_values import Answer
from services.forms.rules.field_checks.answer_problem import ONE_TEXT, FieldContext, Finding
from shared.emails import normalize_email
from shared.phones import PHONE_PROBLEM, PHONE_PROBLEM_TYPE, is_phone


def check_email(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    try:
        normalize_email(answer)
    except ValueError as problem:
        return Finding(str(problem), "value_error")
    return None


def check_phone(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    return None if is_phone(answer, context.region) else PHONE


PHONE = Finding(PHONE_PROBLEM, PHONE_PROBLEM_TYPE)
