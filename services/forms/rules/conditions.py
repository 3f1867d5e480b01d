"""Which fields are visible, given the answers so far."""

import operator
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any

from services.forms.rules.answer_values import Answer, Answers, as_date, as_decimal, items_of, number_key
from services.forms.wire.forms import ConditionalRule, FieldType, FormField, Operator

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


class ComparedAnswer:
    """A controller's answer, read once for all the rules that compare with it.

    Several hundred rules may follow one answer of several thousand items. Each rule costs a few look-ups, not
    a pass over the items: that pass took 36 seconds for one `in` with 4,000 values.
    """

    def __init__(self, answer: Answer | None) -> None:
        self.items = items_of(answer)

    @cached_property
    def texts(self) -> frozenset[str]:
        return frozenset(self.items)

    @cached_property
    def numbers(self) -> list[Decimal]:
        return [number for item in self.items if (number := as_decimal(item)) is not None]

    @cached_property
    def number_keys(self) -> frozenset[str | None]:
        return frozenset(map(number_key, self.numbers))

    @cached_property
    def dates(self) -> frozenset[date]:
        return frozenset(day for item in self.items if (day := as_date(item)) is not None)

    @cached_property
    def number_range(self) -> tuple[Decimal, Decimal] | None:
        return (min(self.numbers), max(self.numbers)) if self.numbers else None

    @cached_property
    def date_range(self) -> tuple[date, date] | None:
        return (min(self.dates), max(self.dates)) if self.dates else None

    @cached_property
    def joined(self) -> str:
        """All items with NUL between them, which no text contains: one linear search covers them all."""
        return "\0".join(self.items)


def holds(rule: ConditionalRule, controller: FieldType, answer: ComparedAnswer) -> bool:
    """Whether the controller's answer meets the rule."""
    positive = _NEGATIVE.get(rule.op)
    if positive is not None:
        return not _positive_holds(positive, rule.value, controller, answer)
    return _positive_holds(rule.op, rule.value, controller, answer)


def _positive_holds(op: Operator, value: Any, controller: FieldType, answer: ComparedAnswer) -> bool:
    if op is Operator.EMPTY:
        return not answer.items
    if op is Operator.EQ:
        return _equals(answer, value, controller)
    if op is Operator.IN:
        wanted = value if isinstance(value, list) else [value]
        return any(_equals(answer, one, controller) for one in wanted)
    text = _text_of(value)
    if text is None:
        return False
    if op is Operator.CONTAINS:
        return bool(answer.items) and "\0" not in text and text in answer.joined
    return _compares(op, answer, text)


def _equals(answer: ComparedAnswer, value: Any, controller: FieldType) -> bool:
    if value is None or value == "":
        return not answer.items
    text = _text_of(value)
    if text is None:
        return False
    if text in answer.texts:
        return True
    is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    if not is_number and controller not in _COUNTED:
        return False
    return number_key(as_decimal(text)) in answer.number_keys


def _compares(op: Operator, answer: ComparedAnswer, text: str) -> bool:
    """Some item is over (or under) the value if the largest (or smallest) one is."""
    side = 1 if op in (Operator.GT, Operator.GTE) else 0
    number = as_decimal(text)
    if number is not None:
        return answer.number_range is not None and _ORDERS[op](answer.number_range[side], number)
    day = as_date(text)
    return day is not None and answer.date_range is not None and _ORDERS[op](answer.date_range[side], day)


def _text_of(value: Any) -> str | None:
    """A rule's value as an answer would write it; None for arrays and objects."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float, Decimal)):
        return str(value)
    return None


def visible_fields(fields: Sequence[FormField], answers: Answers) -> list[FormField]:
    """The visible ones in the form's order. A hidden controller counts as empty.

    A field has at most one controller, so its rules form a path. The path is followed to the first resolved
    field and resolved on the way back, iteratively, so that no chain is too long.
    """
    by_key = {field.key: field for field in fields}
    settled: dict[str, bool] = {}
    compared: dict[str, ComparedAnswer] = {}
    for field in fields:
        path: list[FormField] = []
        walking: set[str] = set()
        step: FormField | None = field
        while step is not None and step.key not in settled and step.key not in walking:
            path.append(step)
            walking.add(step.key)
            step = by_key.get(step.display_when.field_key) if step.display_when else None
        for one in reversed(path):
            settled[one.key] = _is_visible(one, by_key, settled, answers, compared)
    return [field for field in fields if settled[field.key]]


def _is_visible(
    field: FormField,
    by_key: dict[str, FormField],
    settled: dict[str, bool],
    answers: Answers,
    compared: dict[str, ComparedAnswer],
) -> bool:
    rule = field.display_when
    if rule is None:
        return True
    controller = by_key.get(rule.field_key)
    if controller is None:
        # Validation prevents such rules; if one got in another way, the field stays hidden.
        return False
    if controller.key not in compared:
        seen = settled.get(controller.key, False)
        compared[controller.key] = ComparedAnswer(answers.get(controller.key) if seen else None)
    return holds(rule, controller.type, compared[controller.key])
