"""The property that partners rely on: `evaluate` predicts what a submission gets."""

import base64
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.forms.wire.forms import Operator
from shared.wire import new_id
from tests.services.forms.studio_client import Reply, StudioClient

KEYS = st.one_of(
    st.sampled_from(
        ["name", "a.b", "'; DROP TABLE forms; --", "<b>x</b>", "👋🏽", "مفتاح\u202e", "$", "[0]", "%s", " "]
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
    st.sampled_from(["yes", "red", "true", "2026-08-02", "4.5", "5", "", "@", "x" * 999, 1e300, 10**30]),
    st.lists(st.sampled_from(["red", "yes", "true", "4.50", 5]), max_size=3),
    st.sampled_from([{"odd": [1]}, [[]], ["\u202e", {}]]),
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


SETTINGS = settings(
    max_examples=75,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


async def drawn_form(studio: StudioClient, drawn: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The form, or None if its rules form a cycle, which must be refused with that reason."""
    body = {"title": "x", "slug": f"f-{new_id()}", "status": "published", "fields": drawn}
    made = await studio.post("/forms", body)
    if has_rule_cycle(drawn):
        assert made.status == 422
        assert {kind for _, kind in made.problems} <= {"rule_cycle", "self_reference"}
        return None
    assert made.status == 201, made.body
    form: dict[str, Any] = made.json
    return form


async def evaluated(studio: StudioClient, form: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    reply = await studio.post(f"/forms/{form['id']}/evaluate", {"data": data})
    assert reply.status == 200, reply.body
    found: dict[str, Any] = reply.json
    return found


def places(reply: Reply) -> list[tuple[tuple[Any, ...], str]]:
    return sorted(reply.problems, key=repr)


@SETTINGS
@given(data=st.data())
async def test_what_evaluate_calls_wrong_fails_at_the_same_place_and_the_rest_succeeds(
    studio: StudioClient, data: st.DataObject
) -> None:
    """Any form, any answers: valid is stored; wrong is 422 with the same `loc` and type, one by one."""
    drawn = data.draw(fields())
    form = await drawn_form(studio, drawn)
    if form is None:
        return
    sent = data.draw(answers(drawn))
    found = await evaluated(studio, form, sent)
    submitted = await studio.submit(form, sent)
    wrong = sorted(((tuple(one["loc"]), one["type"]) for one in found["problems"]), key=repr)
    assert found["valid"] is (wrong == [])
    if found["valid"]:
        assert submitted.status == 201
        assert submitted.json["data"] == sent
    else:
        assert submitted.status == 422
        assert places(submitted) == wrong
    missing = {loc[2] for loc, kind in wrong if kind == "missing"}
    assert missing <= set(found["required_fields"]) <= set(found["visible_fields"])


@SETTINGS
@given(drawn=fields())
async def test_answering_visible_fields_is_enough(studio: StudioClient, drawn: list[dict[str, Any]]) -> None:
    """Hidden required fields never block: answering right what is shown, step by step, is enough."""
    form = await drawn_form(studio, drawn)
    if form is None:
        return
    right = {field["key"]: TYPES[field["type"]][1] for field in drawn}
    given_: dict[str, Any] = {}
    for _ in range(len(drawn) + 1):
        visible = (await evaluated(studio, form, given_))["visible_fields"]
        given_ = {key: right[key] for key in visible if right[key] is not None}
    assert (await evaluated(studio, form, given_))["valid"]
    assert (await studio.submit(form, given_)).status == 201
