"""Forms that cannot be filled in are refused when they are written; slugs and merge patches."""

from typing import Any

import pytest

from services.forms.rules.form_definition import check_fields, slug_of
from services.forms.rules.lead_metadata import merge_patch
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


# The examples of RFC 7386, appendix A.
PATCHES: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("target", "patch", "expected"), PATCHES)
def test_a_merge_patch_does_what_the_rfc_shows(target: Any, patch: Any, expected: Any) -> None:
    """Null removes, objects merge, everything else replaces."""
    assert merge_patch(target, patch) == expected


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("New Client Intake", "new-client-intake"),
        ("  Été — à la carte!  ", "ete-a-la-carte"),
        ("Straße 5", "strasse-5"),
        ("体験レッスン", "form-0a1b2c3d"),
        ("🧘🧘", "form-0a1b2c3d"),
        ("x" * 300, "x" * 80),
        ("'; DROP TABLE forms; --", "drop-table-forms"),
    ],
)
def test_a_slug_is_made_from_the_title(title: str, slug: str) -> None:
    """Accents are dropped; if nothing is left, the start of the form's id is used."""
    assert slug_of(title, "0a1b2c3d-0000-4000-8000-000000000000") == slug
