"""Numbers and ratings as decimals, dates as calendar dates; all are sent as strings."""

from decimal import Decimal

from services.forms.rules.answer_values import Answer, as_date, as_decimal
from services.forms.rules.field_checks.answer_problem import ONE_TEXT, FieldContext, Finding

DEFAULT_MAX_RATING = 5


def check_number(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    number = as_decimal(answer)
    if number is None:
        return Finding("A number is written like 12, -3 or 4.50.", "number_parsing")
    # Via str: 0.1 means one tenth here, not the nearest binary fraction.
    if context.field.min is not None and number < Decimal(str(context.field.min)):
        return Finding(f"At least {context.field.min}.", "too_small")
    if context.field.max is not None and number > Decimal(str(context.field.max)):
        return Finding(f"At most {context.field.max}.", "too_large")
    return None


def check_rating(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    highest = context.field.max_rating or DEFAULT_MAX_RATING
    number = as_decimal(answer)
    if number is None or number != number.to_integral_value() or not 1 <= number <= highest:
        return Finding(f"A rating is a whole number from 1 to {highest}.", "rating_out_of_range")
    return None


def check_date(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    if as_date(answer) is None:
        return Finding("A date is written like 2026-08-02.", "date_parsing")
    return None
