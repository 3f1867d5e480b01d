"""Work per answer is linear in its size: every type of field and every operator, by CPU time."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from services.forms.rules.answers import evaluate
from services.forms.wire.forms import FieldType, FormField, Operator
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
        evaluate(fields, answers, region="GB")

    assert await too_dear(cases, use) == []
