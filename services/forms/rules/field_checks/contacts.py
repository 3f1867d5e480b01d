"""Emails and phones, told by the libraries that know them. Nothing is looked up on the network."""

import phonenumbers

from services.forms.rules.answer_values import Answer
from services.forms.rules.field_checks.finding import ONE_TEXT, Asked, Finding
from shared.wire import normalize_email

LONGEST_PHONE = 50


def check_email(asked: Asked, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    try:
        normalize_email(answer)
    except ValueError as problem:
        return Finding(str(problem), "value_error")
    return None


def check_phone(asked: Asked, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    return None if is_phone(answer, asked.region) else PHONE


PHONE = Finding("A phone number with its country code, like +44 20 7946 0018.", "phone_parsing")


def is_phone(text: str, region: str | None) -> bool:
    """Possible by its length and country; whether it rings nobody knows."""
    if len(text) > LONGEST_PHONE:
        return False
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number(number)
