"""Forms that cannot be filled in are refused when they are written."""

from typing import Any

import pytest

from services.forms.rules.form_definition import check_fields, with_defaults
from services.forms.wire.forms import FormField
from tests.services.forms.rules.field_builders import make_field, show_when

TABLE: list[tuple[list[FormField], list[tuple[tuple[Any, ...], str]]]] = [
    ([make_field("a"), make_field("b", display_when=show_when("a", "eq", "x"))], []),
    (
        [make_field("a"), make_field("a"), make_field("a")],
        [((1, "key"), "duplicate_key"), ((2, "key"), "duplicate_key")],
    ),
    (
        [make_field("a", display_when=show_when("b", "empty"))],
        [((0, "display_when", "field_key"), "unknown_controller")],
    ),
    (
        [make_field("a", display_when=show_when("a", "empty"))],
        [((0, "display_when", "field_key"), "self_reference")],
    ),
    (
        [
            make_field("a", display_when=show_when("c", "empty")),
            make_field("b", display_when=show_when("a", "empty")),
            make_field("c", display_when=show_when("b", "empty")),
            make_field("tail", display_when=show_when("c", "empty")),
        ],
        [((n, "display_when", "field_key"), "rule_cycle") for n in range(3)],
    ),
    ([make_field("a", "select")], [((0, "options"), "missing_options")]),
    ([make_field("a", "select", options=[])], [((0, "options"), "missing_options")]),
    ([make_field("a", "select", options=[{"label": "no value"}])], [((0, "options"), "option_value")]),
    ([make_field("a", "checkbox_group", options=[None])], [((0, "options"), "option_value")]),
    ([make_field("a", "number", min=2, max=1.5)], [((0, "min"), "min_over_max")]),
    ([make_field("a", "number", min=2, max=2)], []),
    *(
        (
            [make_field("a"), make_field("b", display_when=show_when("a", op, ["x"]))],
            [((1, "display_when", "value"), "rule_value")],
        )
        for op in ("eq", "neq", "gt", "gte", "lt", "lte", "contains", "not_contains")
    ),
    *(
        ([make_field("a"), make_field("b", display_when=show_when("a", op, ["x"]))], [])
        for op in ("in", "not_in", "empty", "not_empty")
    ),
]


@pytest.mark.parametrize(("fields", "expected"), TABLE)
def test_a_form_that_cannot_be_filled_in_is_refused(
    fields: list[FormField], expected: list[tuple[tuple[Any, ...], str]]
) -> None:
    """Each problem is reported with its location."""
    found = [(problem.loc, problem.type) for problem in check_fields(fields)]
    assert found == [(("body", "fields", *loc), kind) for loc, kind in expected]


def test_a_cycle_through_five_hundred_fields_is_found_at_once() -> None:
    """The longest possible cycle, without recursion."""
    ring = [make_field(f"k{n}", display_when=show_when(f"k{(n + 1) % 500}", "empty")) for n in range(500)]
    assert {problem.type for problem in check_fields(ring)} == {"rule_cycle"}


def test_a_field_gets_defaults_and_keeps_its_own_properties() -> None:
    """Every property of the specification is present when read; unknown ones are unchanged."""
    full = with_defaults({"key": "a", "label": "A", "type": "text", "x-icon": {"name": "★"}, "order": 7})
    assert full["x-icon"] == {"name": "★"}
    assert (full["order"], full["required"], full["options"], full["max"]) == (7, False, None, None)
