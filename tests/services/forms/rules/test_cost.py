"""The cost of evaluating a form is linear in the form and in the answers, not their product."""

import time
from typing import Any

import msgspec
import pytest

from services.forms.rules.answer_values import Answers
from services.forms.rules.answers import evaluate
from services.forms.wire.forms import FormField

# 4,000 by 4,000 comparisons took 36 seconds. Reading both sides once takes a few hundredths.
BUDGET = 1.0
ITEMS = [f"{number}.5" for number in range(4_000)]


def form(*fields: dict[str, Any]) -> list[FormField]:
    drawn = [{"label": "x", "type": "text"} | field for field in fields]
    return msgspec.convert(drawn, list[FormField])


def followers(count: int, op: str, value: Any) -> list[dict[str, Any]]:
    rule = {"field_key": "many", "op": op, "value": value}
    return [{"key": f"f{number}", "display_when": rule} for number in range(count)]


def cpu_seconds(fields: list[FormField], answers: Answers) -> float:
    started = time.process_time()
    evaluate(fields, answers)
    return time.process_time() - started


@pytest.mark.parametrize("op", ["in", "not_in"])
@pytest.mark.parametrize(
    "values", [list(range(4_000)), [f"no {n}" for n in range(4_000)]], ids=["numbers", "texts"]
)
def test_a_rule_with_thousands_of_values_meets_thousands_of_answers_in_linear_time(
    op: str, values: list[Any]
) -> None:
    """No value is among the answers, so all of them are looked up."""
    fields = form({"key": "many", "type": "checkbox_group"}, *followers(1, op, values))
    assert cpu_seconds(fields, {"many": ITEMS}) < BUDGET


@pytest.mark.parametrize(
    ("op", "value"),
    [
        ("eq", 7),
        ("in", [7, 8]),
        ("contains", "x" * 300),
        ("gt", 99_999),
        ("lt", -1),
        ("lte", "1999-01-01"),
        ("not_empty", None),
    ],
)
def test_hundreds_of_rules_may_follow_one_answer_of_thousands_of_items(op: str, value: Any) -> None:
    """The items are read once, not once for each rule."""
    fields = form({"key": "many", "type": "checkbox_group"}, *followers(499, op, value))
    assert cpu_seconds(fields, {"many": ITEMS}) < BUDGET


def test_hundreds_of_searches_in_a_repetitive_text_stay_linear() -> None:
    """The worst case of a naive search: a long run of one letter, and a needle that fails at its end."""
    rules = [
        {"key": f"f{n}", "display_when": {"field_key": "many", "op": "contains", "value": "a" * 99 + f"b{n}"}}
        for n in range(499)
    ]
    items = [f"{n}" + "a" * 2_000 for n in range(120)]
    assert cpu_seconds(form({"key": "many", "type": "checkbox_group"}, *rules), {"many": items}) < 4 * BUDGET


@pytest.mark.parametrize("name", ["", ";name=x.unknown"], ids=["unnamed", "named"])
def test_the_accepted_kinds_of_a_file_field_are_read_once(name: str) -> None:
    """`accept` names 480 endings, and 4,000 files are sent."""
    accept = ",".join(f".a{number % 10}" for number in range(480))
    fields = form({"key": "files", "type": "file_upload", "multiple": True, "accept": accept + ",text/*"})
    files = [f"data:text/plain{name},x"] * 4_000
    assert evaluate(fields, {"files": files}).problems == []
    assert cpu_seconds(fields, {"files": files}) < BUDGET
