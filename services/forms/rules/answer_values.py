"""An answer is a string or a list of strings; helpers to read numbers and dates."""

import re
from collections.abc import Mapping
from datetime import date
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import TypeAlias

Answer: TypeAlias = str | list[str]
Answers: TypeAlias = Mapping[str, Answer]

# Numbers as in JSON: Decimal alone would accept "NaN", "1_000" and non-ASCII digits.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MAX_NUMBER_LENGTH = 100
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def items_of(answer: Answer | None) -> list[str]:
    """The answer's strings without blank ones: an empty answer has none."""
    if answer is None:
        return []
    texts = answer if isinstance(answer, list) else [answer]
    return [text for text in texts if text.strip()]


def is_empty(answer: Answer | None) -> bool:
    return not items_of(answer)


def as_decimal(text: str) -> Decimal | None:
    text = text.strip()
    if len(text) > MAX_NUMBER_LENGTH or not _NUMBER.fullmatch(text):
        return None
    return Decimal(text)


def number_key(number: Decimal | None) -> str | None:
    """Equal numbers have the same key, which no text is: texts contain no NUL.

    Sets hold keys, because a sender can choose the hash of numbers: 10,000 with the same hash took 3 s.
    """
    return None if number is None else f"\0{number.normalize(_EXACT) if number else 0}"


def as_date(text: str) -> date | None:
    text = text.strip()
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
