"""Every operator against every kind of answer, and visibility over whole forms."""

from typing import Any

import msgspec
import pytest

from services.forms.rules.answer_values import Answers
from services.forms.rules.conditions import ComparedAnswer, holds, visible_fields
from services.forms.wire.forms import ConditionalRule, FieldType, FormField
from tests.services.forms.rules.field_builders import make_field, show_when

TABLE: list[tuple[str, Any, str, Any, bool]] = [
    # op, value, controller's type, answer, expected
    ("eq", "yes", "text", "yes", True),
    ("eq", "yes", "text", "Yes", False),
    ("eq", "yes", "text", None, False),
    ("eq", None, "text", None, True),
    ("eq", "", "text", " ", True),
    ("eq", 5, "text", "5.0", True),
    ("eq", "5", "number", "5.00", True),
    ("eq", "007", "text", "7", False),
    ("eq", True, "checkbox", "true", True),
    ("eq", "b", "checkbox_group", ["a", "b"], True),
    ("eq", ["a", "b"], "checkbox_group", ["a", "b"], False),
    ("eq", {"x": 1}, "text", "x", False),
    ("neq", "yes", "text", "no", True),
    ("neq", "yes", "text", None, True),
    ("neq", "b", "checkbox_group", ["a", "b"], False),
    ("neq", "c", "checkbox_group", ["a", "b"], True),
    ("in", ["a", "b"], "select", "b", True),
    ("in", ["a", "b"], "select", "c", False),
    ("in", ["a", "b"], "select", None, False),
    ("in", "a", "select", "a", True),
    ("in", [], "select", "a", False),
    ("in", [1, 2], "rating", "2", True),
    ("in", ["z", "b"], "checkbox_group", ["a", "b"], True),
    ("not_in", ["a", "b"], "select", "c", True),
    ("not_in", ["a", "b"], "select", None, True),
    ("not_in", ["a"], "checkbox_group", ["a", "b"], False),
    ("contains", "back", "textarea", "my back hurts", True),
    ("contains", "back", "checkbox_group", ["neck", "back"], True),
    ("contains", "back", "textarea", None, False),
    ("contains", None, "textarea", "anything", False),
    ("not_contains", "back", "textarea", "my neck", True),
    ("not_contains", "back", "textarea", None, True),
    ("not_contains", "back", "checkbox_group", ["neck", "back"], False),
    ("gt", 17, "number", "18", True),
    ("gt", 17, "number", "17", False),
    ("gt", "9", "number", "10", True),
    ("gt", 0.1, "number", "0.10000000000000001", True),
    ("gte", 17, "number", "17.0", True),
    ("lt", 17, "number", "-3", True),
    ("lt", 17, "number", None, False),
    ("lte", "2026-01-01", "date", "2026-01-01", True),
    ("lt", "2026-01-10", "date", "2026-01-09", True),
    ("gt", "2026-01-10", "date", "2026-02-30", False),
    ("gt", "apple", "text", "banana", False),
    ("gt", 1, "text", "NaN", False),
    ("gt", 1, "text", "Infinity", False),
    ("gt", 5, "checkbox_group", ["1", "9"], True),
    ("gt", [5], "number", "9", False),
    ("empty", None, "text", None, True),
    ("empty", None, "text", "  ", True),
    ("empty", None, "checkbox_group", [], True),
    ("empty", None, "checkbox_group", [""], True),
    ("empty", "whatever", "text", "x", False),
    ("not_empty", None, "text", "x", True),
    ("not_empty", None, "checkbox_group", ["", "x"], True),
    ("not_empty", None, "text", None, False),
]


@pytest.mark.parametrize(("op", "value", "controller", "answer", "expected"), TABLE)
def test_a_rule_holds_as_listed(op: str, value: Any, controller: str, answer: Any, expected: bool) -> None:
    """Positive operators mean "any" on a list, negative ones "none"; numbers as decimals, dates as dates."""
    rule = msgspec.convert(show_when("c", op, value), ConditionalRule)
    assert holds(rule, FieldType(controller), ComparedAnswer(answer)) is expected


def shown(fields: list[FormField], answers: Answers) -> list[str]:
    return [field.key for field in visible_fields(fields, answers)]


def test_a_hidden_controller_counts_as_empty() -> None:
    """Its own answer is ignored, whatever was sent."""
    fields = [
        make_field("a"),
        make_field("b", display_when=show_when("a", "eq", "yes")),
        make_field("c", display_when=show_when("b", "eq", "deep")),
        make_field("d", display_when=show_when("b", "empty")),
    ]
    assert shown(fields, {"a": "yes", "b": "deep"}) == ["a", "b", "c"]
    assert shown(fields, {"a": "no", "b": "deep"}) == ["a", "d"]
