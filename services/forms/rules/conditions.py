"""When a rule holds. Total: any operator, any JSON value and any answer give true or false, never an error.

On a list answer the positive operators mean "any", the negative ones "none". Numbers compare as decimals and
dates as dates; where an order is context for and neither fits, the rule does not hold.
"""

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from services.forms.rules.answer_values import Answer, as_date, as_decimal, items_of
from services.forms.wire.fields import ConditionalRule, FieldType, Operator

_ORDERS: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.GT: operator.gt,
    Operator.GTE: operator.ge,
    Operator.LT: operator.lt,
    Operator.LTE: operator.le,
}
_NEGATIVE = {
    Operator.NEQ: Operator.EQ,
    Operator.NOT_IN: Operator.IN,
    Operator.NOT_CONTAINS: Operator.CONTAINS,
    Operator.NOT_EMPTY: Operator.EMPTY,
}
_COUNTED = frozenset({FieldType.NUMBER, FieldType.RATING})


def holds(rule: ConditionalRule, controller: FieldType, answer: Answer | None) -> bool:
    """Whether the rule is met by the controller's answer; None where it has none or is hidden."""
    positive = _NEGATIVE.get(rule.op)
    if positive is not None:
        return not _positive_holds(positive, rule.value, controller, answer)
    return _positive_holds(rule.op, rule.value, controller, answer)


def _positive_holds(op: Operator, value: Any, controller: FieldType, answer: Answer | None) -> bool:
    items = items_of(answer)
    if op is Operator.EMPTY:
        return not items
    if op is Operator.EQ:
        return _equals(items, value, controller)
    if op is Operator.IN:
        wanted = value if isinstance(value, list) else [value]
        return any(_equals(items, one, controller) for one in wanted)
    text = _text_of(value)
    if text is None:
        return False
    if op is Operator.CONTAINS:
        return any(text in item for item in items)
    return any(_compares(_ORDERS[op], item, text) for item in items)


def _equals(items: list[str], value: Any, controller: FieldType) -> bool:
    if value is None or value == "":
        return not items
    text = _text_of(value)
    if text is None:
        return False
    if text in items:
        return True
    is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    if not is_number and controller not in _COUNTED:
        return False
    number = as_decimal(text)
    return number is not None and any(as_decimal(item) == number for item in items)


def _compares(compare: Callable[[Any, Any], bool], item: str, text: str) -> bool:
    for read in (as_decimal, as_date):
        left, right = read(item), read(text)
        if left is not None and right is not None:
            return compare(left, right)
    return False


def _text_of(value: Any) -> str | None:
    """A rule's value in the form in which answers come; arrays and objects have none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float, Decimal)):
        return str(value)
    return None
