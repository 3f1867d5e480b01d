"""Hypothesis strategies for forms and answers."""

import base64
from typing import Any

from hypothesis import strategies as st

from services.forms.wire.forms import Operator

KEYS = st.one_of(
    st.sampled_from(
        ["name", "a.b", "'; DROP TABLE forms; --", "<b>x</b>", "👋🏽", "مفتاح", "$", "[0]", "a`b", " "]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12),
)
PNG = "data:image/png;base64," + base64.b64encode(b"pixels").decode()
OPTIONS = ["red", "blue", "3", "true"]

# For each type: properties that matter, an answer that is right with all of them, and some that are wrong.
TYPES: dict[str, tuple[dict[str, Any], Any, list[Any]]] = {
    "text": ({}, "yes", [["a"], "x" * 5_001]),
    "textarea": ({}, "long and\nlonger", [["a"]]),
    "number": ({"min": 0, "max": 10}, "4.50", ["11", "-1", "four", ["1"]]),
    "email": ({}, "ann@example.com", ["ann@", "x"]),
    "phone": ({}, "+44 20 7946 0018", ["12", "call me"]),
    "date": ({}, "2026-08-02", ["2026-13-01", "tomorrow"]),
    "select": ({"options": OPTIONS}, "red", ["pink", ["red"]]),
    "checkbox": ({}, "true", ["yes", ["true"]]),
    "checkbox_group": ({"options": OPTIONS}, ["red", "3"], [["pink"], ["red", "red"]]),
    "signature": ({}, "Ann Lee", [["Ann"]]),
    "file_upload": ({"accept": "image/*", "max_file_size": 6}, PNG, ["x.png", "data:text/plain,hi"]),
    "address": ({}, ["1 High Street", "York"], ["x" * 2_001]),
    "rating": ({"max_rating": 5}, "5", ["6", "0", "2.5"]),
    "section_break": ({}, None, ["x", []]),
    "consent": ({"consent_policy_slug": "p", "consent_policy_version": "1"}, "true", ["maybe"]),
}
OPERATORS = [op.value for op in Operator]
# The others compare with one value: a form that gives them a list is refused.
LIST_OPERATORS = ["in", "not_in", "empty", "not_empty"]
RULE_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-20, 20),
    st.floats(-20, 20),
    st.sampled_from(["yes", "red", "true", "2026-08-02", "4.5", "5", "", "@"]),
    st.lists(st.sampled_from(["red", "yes", "true", "4.50", 5]), max_size=3),
    st.just({"odd": [1]}),
)


@st.composite
def fields(draw: st.DrawFn) -> list[dict[str, Any]]:
    """One to twelve fields of any type. Most rules refer to an earlier field, some to any: cycles happen."""
    keys = draw(st.lists(KEYS, min_size=1, max_size=12, unique=True))
    made: list[dict[str, Any]] = []
    for place, key in enumerate(keys):
        kind = draw(st.sampled_from(sorted(TYPES)))
        field = {"key": key, "label": key, "type": kind, **TYPES[kind][0], "required": draw(st.booleans())}
        if draw(st.booleans()):
            earlier = keys[:place] or keys
            controller = draw(st.sampled_from(keys if draw(st.integers(0, 9)) == 0 else earlier))
            value = draw(RULE_VALUES)
            op = draw(st.sampled_from(LIST_OPERATORS if isinstance(value, list) else OPERATORS))
            field["display_when"] = {"field_key": controller, "op": op, "value": value}
        made.append(field)
    return draw(st.permutations(made))


@st.composite
def answers(draw: st.DrawFn, drawn: list[dict[str, Any]]) -> dict[str, Any]:
    """Some right, some wrong, some for fields that nobody sees or that do not exist."""
    given: dict[str, Any] = {}
    for field in drawn:
        _, right, wrong = TYPES[field["type"]]
        choice = draw(st.sampled_from(["right", "right", "right", "wrong", "blank", "none"]))
        if choice == "right" and right is not None:
            given[field["key"]] = right
        elif choice == "wrong":
            given[field["key"]] = draw(st.sampled_from(wrong))
        elif choice == "blank":
            given[field["key"]] = draw(st.sampled_from(["", " ", []]))
    if draw(st.integers(0, 9)) == 0:
        given["no such key"] = "x"
    return given


def has_rule_cycle(drawn: list[dict[str, Any]]) -> bool:
    """The simplest way: follow the controllers for more steps than there are fields."""
    controllers = {field["key"]: (field.get("display_when") or {}).get("field_key") for field in drawn}
    for key in controllers:
        step: str | None = key
        for _ in range(len(controllers) + 1):
            step = controllers.get(step) if step is not None else None
        if step is not None:
            return True
    return False
