"""Merge patch, nesting, slugs, settings, states."""

from datetime import UTC, datetime
from typing import Any

import pytest

from services.forms.errors import FormClosed, InvalidStateTransition
from services.forms.rules.form_access import FORM_STATES, LEAD_STATES, require_transition
from services.forms.rules.form_definition import check_settings, require_open, slug_of
from services.forms.rules.json_limits import MAX_DEPTH, depth_of, too_deep, too_large
from services.forms.rules.lead_metadata import merge_patch
from services.forms.wire.forms import FormSettings, FormStatus
from services.forms.wire.leads import LeadStatus

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


def test_depth_is_measured_without_recursion_and_the_error_names_the_limit() -> None:
    """Fifty levels are kept; past the limit the message names it."""
    nested: Any = {}
    for _ in range(100_000):
        nested = {"a": [nested]} if _ % 2 else {"a": nested}
    assert depth_of(nested) > 100_000
    (problem,) = too_deep(nested, ("body", "metadata"))
    assert str(MAX_DEPTH) in problem.msg
    while nested:  # taken apart by hand: freeing it in one go would recurse in the interpreter
        nested = nested["a"]
        nested = nested[0] if isinstance(nested, list) else nested
    assert depth_of([[[]]]) == 3
    assert depth_of("x") == 0
    assert "65536" in too_large("x" * 65_537, ("body",))[0].msg


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


def test_settings_with_a_meaning_are_checked() -> None:
    """A redirect must be https; emails are checked by their type."""
    wrong = FormSettings(redirect_url="http://a.example")
    assert [problem.loc[2:] for problem in check_settings(wrong)] == [("redirect_url",)]
    assert not check_settings(FormSettings(redirect_url="https://a.example/thanks"))
    assert check_settings(FormSettings(redirect_url="https://[half"))


def test_a_form_closes_at_the_configured_instant() -> None:
    """Closed from that instant on."""
    at = datetime(2026, 8, 2, 12, tzinfo=UTC)
    require_open(FormSettings(closes_at=at), at.replace(hour=11))
    with pytest.raises(FormClosed):
        require_open(FormSettings(closes_at=at), at)


def test_states_follow_the_tables_and_a_refusal_says_what_is_allowed() -> None:
    """Leads move forward, never back; setting the current state is no transition."""
    allowed = {(str(now), str(to)) for now, later in LEAD_STATES.items() for to in later}
    assert ("new", "converted") in allowed
    assert ("qualified", "contacted") not in allowed
    assert {to for now, to in allowed if now == "unqualified"} == {"contacted"}
    require_transition(LEAD_STATES, LeadStatus.NEW, LeadStatus.NEW)
    with pytest.raises(InvalidStateTransition) as refused:
        require_transition(FORM_STATES, FormStatus.PUBLISHED, FormStatus.DRAFT)
    assert refused.value.details == {"from": "published", "to": "draft", "allowed": ["archived"]}
