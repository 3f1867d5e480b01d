"""The property that partners rely on: `evaluate` predicts what a submission gets."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.wire import new_id
from tests.services.forms.form_strategies import TYPES, answers, fields, has_rule_cycle
from tests.services.forms.studio_client import Reply, StudioClient

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
