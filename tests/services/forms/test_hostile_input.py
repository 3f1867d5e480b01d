"""Large, deep and odd input: correct answers, or 422 with the limit, quickly and never 500."""

import time
from typing import Any

import pytest

from shared.errors import MAX_PROBLEMS
from shared.wire import new_id
from tests.services.forms.studio_client import StudioClient, field


async def test_a_form_of_five_hundred_fields_in_chains_of_two_hundred_is_quick(studio: StudioClient) -> None:
    """Two chains of 200 fields and a hundred others: created, evaluated, submitted within seconds."""
    drawn = [field(f"{c}{n}", required=True, **_follows(c, n)) for c in "ab" for n in range(200)]
    drawn += [field(f"c{n}", "number", min=0, max=9) for n in range(100)]
    started = time.perf_counter()
    form = await studio.form(*reversed(drawn))
    answers = {f"{c}{n}": "y" for c in "ab" for n in range(200)} | {f"c{n}": "5" for n in range(100)}
    whole = (await studio.post(f"/forms/{form['id']}/evaluate", {"data": answers})).json
    assert (len(whole["visible_fields"]), whole["valid"]) == (500, True)
    cut = {
        key: "n" if key == "a0" else value for key, value in answers.items() if key[0] != "a" or key == "a0"
    }
    assert (await studio.submit(form, cut)).status == 201
    assert len((await studio.submit(form, answers | {"a0": "n"})).problems) == MAX_PROBLEMS
    # A body full of unknown keys is one 422, not a stall.
    assert len((await studio.submit(form, {f"k{n}": "x" for n in range(10_000)})).problems) == MAX_PROBLEMS
    assert (await studio.submit(form, answers)).status == 201
    assert time.perf_counter() - started < 3


def _follows(chain: str, place: int) -> dict[str, Any]:
    if place == 0:
        return {}
    return {"display_when": {"field_key": f"{chain}{place - 1}", "op": "eq", "value": "y"}}


@pytest.mark.parametrize(("depth", "limit"), [(64, None), (65, "64"), (20_000, "500")])
async def test_metadata_is_kept_down_to_its_limit(
    studio: StudioClient, depth: int, limit: str | None
) -> None:
    """Sixty-four levels come back as they were; past them the error states the limit; no depth is a 500."""
    nested = b'{"a":' * depth + b"1" + b"}" * depth
    reply = await studio.post("/leads", b'{"email":"a@b.example","metadata":%s}' % nested)
    if limit is None:
        assert reply.status == 201
        assert nested in (await studio.get(f"/leads/{reply.json['id']}")).body
    else:
        assert reply.status == 422
        assert f"at most {limit} " in reply.json["detail"][0]["msg"]


@pytest.mark.parametrize(
    "part", [b'"fields":[{"key":"a","label":"b","type":"text","x":%s}]', b'"settings":{"x":%s}']
)
async def test_a_form_nested_too_deep_is_refused_with_the_limit(studio: StudioClient, part: bytes) -> None:
    """Also inside unknown properties."""
    nested = b'{"a":' * 70 + b"1" + b"}" * 70
    reply = await studio.post("/forms", b'{"title":"x",%s}' % (part % nested))
    assert reply.status == 422
    assert "64" in reply.json["detail"][0]["msg"]


@pytest.mark.parametrize(
    "value",
    [b'"\\u0000"', b'{"\\u0000":1}', b'"\\ud800"', b"1e400", b"-1e999999", b"NaN", b"01", b'"\xff"'],
)
async def test_text_and_numbers_that_cannot_be_stored_are_refused(studio: StudioClient, value: bytes) -> None:
    """NUL, lone surrogates, numbers past any double, broken JSON: 422 wherever partners own the JSON."""
    bodies = {
        "/leads": b'{"email":"a@b.example","metadata":{"x":%s}}',
        f"/forms/{new_id()}/submissions": b'{"submitter_email":"a@b.example","data":{"x":%s}}',
        "/forms": b'{"title":"x","fields":[{"key":"a","label":"b","type":"text","x":%s}]}',
    }
    for path, body in bodies.items():
        for key in (None, new_id()):
            reply = await studio.post(path, body % value, key=key)
            assert reply.status == 422, (path, reply.body)


async def test_a_list_of_too_many_emails_is_refused_for_its_length(studio: StudioClient) -> None:
    """Without reading the emails: there may be a thousand."""
    emails = ["a@" + "中" * 20 + ".example"] * 1_000
    started = time.process_time()
    reply = await studio.post("/forms", {"title": "x", "settings": {"notification_emails": emails}})
    assert reply.problems == [(("body", "settings", "notification_emails"), "too_long")]
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_an_instant_outside_the_supported_years_is_rejected(studio: StudioClient, value: str) -> None:
    """422 in a form's settings, a named line in an import; every list can still be read afterwards."""
    form = await studio.form(field("a"))
    settings = {"settings": {"closes_at": value}}
    for reply in (
        await studio.post("/forms", {"title": "x", **settings}),
        await studio.put(f"/forms/{form['id']}", settings),
    ):
        assert reply.problems == [(("body", "settings", "closes_at"), "datetime_out_of_range")]
    submission = {"form_id": form["id"], "submitter_email": "a@b.example"}
    report = await studio.import_lines(
        {"object": "lead", "id": new_id(), "email": "a@b.example", "created_at": value},
        {"object": "form", "id": new_id(), "title": "x", "created_at": value},
        {"object": "form", "id": new_id(), "title": "y", "status": "published", **settings},
        {"object": "form_submission", "id": new_id(), **submission, "created_at": value},
    )
    assert [one["line"] for one in report["rejected"]] == [1, 2, 3, 4]
    assert all("1970" in one["reason"] for one in report["rejected"])
    for path in ("/forms?include_drafts=true", "/leads", f"/forms/{form['id']}/submissions"):
        assert (await studio.get(path)).status == 200
