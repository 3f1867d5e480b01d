"""Visibility over whole forms."""

import time

from services.forms.rules.answer_values import Answers
from services.forms.rules.conditions import visible_fields
from services.forms.wire.forms import FormField
from tests.services.forms.rules.field_builders import make_field, show_when


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


def test_a_controller_may_come_after_the_field_it_controls() -> None:
    """Rules refer to keys, not to positions."""
    fields = [make_field("late", display_when=show_when("first", "not_empty")), make_field("first")]
    assert shown(fields, {"first": "x"}) == ["late", "first"]
    assert shown(fields, {}) == ["first"]


def test_a_chain_of_five_hundred_rules_is_evaluated_without_recursion() -> None:
    """No depth is too deep, in either order of the fields, and it takes milliseconds."""
    chain = [make_field("k0")] + [
        make_field(f"k{n}", display_when=show_when(f"k{n - 1}", "eq", "y")) for n in range(1, 500)
    ]
    answers = {f"k{n}": "y" for n in range(500)}
    started = time.perf_counter()
    assert len(shown(chain, answers)) == 500
    assert len(shown(chain[::-1], answers)) == 500
    assert shown(chain, answers | {"k10": "n"}) == [f"k{n}" for n in range(11)]
    assert time.perf_counter() - started < 0.5


def test_rules_in_a_cycle_terminate() -> None:
    """Such a form cannot be created. If one exists anyway, the fields of the cycle are hidden."""
    fields = [
        make_field("a", display_when=show_when("b", "eq", "1")),
        make_field("b", display_when=show_when("a", "eq", "1")),
        make_field("c", display_when=show_when("nowhere", "empty")),
        make_field("d"),
    ]
    assert shown(fields, {"a": "1", "b": "1"}) == ["d"]
