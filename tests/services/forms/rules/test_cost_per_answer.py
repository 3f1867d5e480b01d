"""Evaluating costs the size of the form and of the answers, not their product, by CPU time."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from services.forms.rules.answer_values import Answers
from services.forms.rules.answers import evaluate
from services.forms.wire.forms import FieldType, FormField, Operator
from shared.errors import Invalid
from tests.harness.text_places import FULL_BUDGET, Hostile, cpu_seconds, too_dear

# Their hash is 0: they are the multiples of Python's modulus.
SAME_HASH = [str((2**61 - 1) * number) for number in range(1, 10_000)]


def form_of(*fields: dict[str, Any]) -> list[FormField]:
    return msgspec.convert(
        [{"key": "k", "label": "x", "type": "text"} | one for one in fields], list[FormField]
    )


PROPERTIES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "with options": {"options": [*range(400), *map(str, range(400)), *map(int, SAME_HASH[:7])]},
    "limited": {"min": 1, "max": 9, "max_file_size": 9, "accept": ",".join(f".a{n}" for n in range(300))},
    "multiple": {"multiple": True, "required": True, "accept": "image/*", "options": ["a"]},
}


def answers_with_texts(text: Hostile, size: int) -> Iterator[tuple[str, Any]]:
    yield "one", {"k": text.of_bytes(size)}
    yield "a list of one", {"k": [text.of_bytes(size)]}
    for each in (20, 250):
        item = text.of_bytes(each)
        yield f"… of {each}", {"k": [item] * (size // each)}
    yield "a key", {text.of_bytes(size): ["a"]}


@pytest.mark.parametrize("properties", PROPERTIES)
@pytest.mark.parametrize("kind", FieldType)
async def test_an_answer_to_any_type_of_field_costs_its_size(kind: FieldType, properties: str) -> None:
    """Evaluating needs only a key that may read forms."""
    fields = form_of({"type": kind} | PROPERTIES[properties])

    async def use(answers: Any) -> None:
        with suppress(Invalid):
            evaluate(fields, answers, region="GB")

    assert await too_dear(answers_with_texts, use) == []


@pytest.mark.parametrize("op", Operator)
async def test_an_answer_to_a_field_that_controls_others_costs_its_size(op: Operator) -> None:
    """Each rule looks at the answer, whatever type the controlling field has."""
    values = [7, 7.5, "7", "a" * 40 + "b", "2026-01-01", ["a", 7, SAME_HASH[-1]], None]
    fields = form_of(
        {"type": "checkbox_group"},
        *(
            {"key": f"f{n}", "display_when": {"field_key": "k", "op": op, "value": v}}
            for n, v in enumerate(values)
        ),
    )

    async def use(answers: Any) -> None:
        evaluate(fields, answers)

    assert await too_dear(answers_with_texts, use) == []
    await use({"k": SAME_HASH[:100]})
    assert await cpu_seconds(use, {"k": SAME_HASH}) < FULL_BUDGET


@pytest.mark.parametrize("kind", FieldType)
async def test_the_answers_to_hundreds_of_fields_cost_their_size(kind: FieldType) -> None:
    """As many fields as a form may have."""
    fields = form_of(*({"key": f"f{number}", "type": kind} for number in range(500)))

    def cases(text: Hostile, size: int) -> Iterator[tuple[str, Any]]:
        yield "…", {f"f{number}": text.of_bytes(120) for number in range(size // 120)}

    async def use(answers: Any) -> None:
        with suppress(Invalid):
            evaluate(fields, answers, region="GB")

    assert await too_dear(cases, use) == []


# 4,000 by 4,000 comparisons took 36 seconds. Reading both sides once takes a few hundredths.
BUDGET = 1.0
ITEMS = [f"{number}.5" for number in range(4_000)]
MANY_RULES = [("eq", 7), ("in", [7, 8]), ("contains", "x" * 300), ("gt", 99_999), ("lte", "1999-01-01")]


def seconds(fields: list[FormField], answers: Answers) -> float:
    started = time.process_time()
    evaluate(fields, answers)
    return time.process_time() - started


@pytest.mark.parametrize(
    ("rules", "op", "value"),
    [
        # No value is among the answers, so all of them are looked up.
        (1, "in", list(range(4_000))),
        (1, "not_in", [f"no {n}" for n in range(4_000)]),
        # The items are read once, not once for each rule.
        *((499, op, value) for op, value in MANY_RULES),
    ],
)
def test_rules_meet_thousands_of_answers(rules: int, op: str, value: Any) -> None:
    """Of one rule with thousands of values, and of hundreds of rules."""
    rule = {"field_key": "many", "op": op, "value": value}
    followers = [{"key": f"f{number}", "display_when": rule} for number in range(rules)]
    fields = form_of({"key": "many", "type": "checkbox_group"}, *followers)
    assert seconds(fields, {"many": ITEMS}) < BUDGET


def test_hundreds_of_searches_in_a_repetitive_text_stay_linear() -> None:
    """The worst case of a naive search: a long run of one letter, and a needle that fails at its end."""
    rules = [
        {"key": f"f{n}", "display_when": {"field_key": "many", "op": "contains", "value": "a" * 99 + f"b{n}"}}
        for n in range(499)
    ]
    items = [f"{n}" + "a" * 2_000 for n in range(120)]
    assert seconds(form_of({"key": "many", "type": "checkbox_group"}, *rules), {"many": items}) < 4 * BUDGET


@pytest.mark.parametrize("name", ["", ";name=x.unknown"], ids=["unnamed", "named"])
def test_the_accepted_kinds_of_a_file_field_are_read_once(name: str) -> None:
    """`accept` names 480 endings, and 4,000 files are sent."""
    accept = ",".join(f".a{number % 10}" for number in range(480))
    fields = form_of({"key": "files", "type": "file_upload", "multiple": True, "accept": accept + ",text/*"})
    files = [f"data:text/plain{name},x"] * 4_000
    assert evaluate(fields, {"files": files}).problems == []
    assert seconds(fields, {"files": files}) < BUDGET
