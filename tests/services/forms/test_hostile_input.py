"""Large, deep and odd input: correct answers, or 422 with the limit, quickly and never 500."""

import time
from typing import Any

import msgspec
import pytest

from shared.errors import MAX_PROBLEMS
from shared.wire import new_id
from tests.services.forms.form_strategies import LIST_OPERATORS, OPERATORS
from tests.services.forms.studio_client import StudioClient, field

ODD = [
    "'; DROP TABLE forms; --",
    "<script>alert(1)</script>",
    "👩🏽‍🚀🏳️‍🌈",
    "مفتاح\u202eنص",
    "a.b[0].c",
    "$.data",
    "\u200b",
    "%s%n",
]


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
    assert (await studio.submit(form, answers)).status == 201
    assert time.perf_counter() - started < 3


def _follows(chain: str, place: int) -> dict[str, Any]:
    if place == 0:
        return {}
    return {"display_when": {"field_key": f"{chain}{place - 1}", "op": "eq", "value": "y"}}


async def test_one_field_too_many_is_refused_with_the_limit(studio: StudioClient) -> None:
    """500 is the maximum; the error says so."""
    reply = await studio.post("/forms", {"title": "x", "fields": [field(f"k{n}") for n in range(501)]})
    assert reply.status == 422
    assert "at most 500" in reply.json["detail"][0]["msg"]


@pytest.mark.parametrize(("depth", "status"), [(50, 201), (64, 201), (65, 422), (400, 422), (60_000, 422)])
async def test_metadata_is_kept_down_to_its_limit(studio: StudioClient, depth: int, status: int) -> None:
    """Fifty levels come back as they were; past sixty-four the error states the limit; no depth is a 500."""
    nested = b'{"a":' * depth + b"1" + b"}" * depth
    reply = await studio.post("/leads", b'{"email":"a@b.example","metadata":%s}' % nested[:250_000])
    if depth < 40_000:
        reply = await studio.post("/leads", b'{"email":"a@b.example","metadata":%s}' % nested)
    assert reply.status == status
    if status == 201:
        read = await studio.get(f"/leads/{reply.json['id']}")
        assert nested in read.body
    elif depth <= 400:
        assert "64" in reply.json["detail"][0]["msg"]


@pytest.mark.parametrize("part", ["fields", "settings"])
async def test_a_form_nested_too_deep_is_refused_with_the_limit(studio: StudioClient, part: str) -> None:
    """Also inside unknown properties."""
    nested = b'{"a":' * 70 + b"1" + b"}" * 70
    parts = {
        "fields": b'[{"key":"a","label":"b","type":"text","x":%s}]' % nested,
        "settings": b'{"x":%s}' % nested,
    }
    reply = await studio.post("/forms", b'{"title":"x","%s":%s}' % (part.encode(), parts[part]))
    assert reply.status == 422
    assert "64" in reply.json["detail"][0]["msg"]


async def test_a_field_key_may_be_any_text(studio: StudioClient) -> None:
    """SQL, HTML, emoji, right-to-left: stored, read, ruled by and answered under the same key."""
    drawn = [field(key) for key in ODD]
    drawn += [field(f"{key}!", display_when={"field_key": key, "op": "eq", "value": key}) for key in ODD]
    form = await studio.form(*drawn)
    answers = {key: key for key in ODD} | {f"{key}!": key for key in ODD}
    made = await studio.submit(form, answers)
    assert made.status == 201
    read = await studio.get(f"/forms/{form['id']}/submissions/{made.json['id']}")
    assert read.json["data"] == answers
    wrong = await studio.submit(form, {"nowhere": "x", ODD[1] + "!": "x"})
    assert sorted(wrong.problems) == [
        (("body", "data", ODD[1] + "!"), "field_not_visible"),
        (("body", "data", "nowhere"), "unknown_field"),
    ]
    lead = await studio.post("/leads", {"email": "a@b.example", "metadata": answers})
    assert (await studio.get(f"/leads/{lead.json['id']}")).json["metadata"] == answers


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


async def test_a_thousand_wrong_answers_are_reported_quickly(studio: StudioClient) -> None:
    """A body full of unknown keys is one 422, not a stall."""
    form = await studio.form(field("a"))
    started = time.perf_counter()
    reply = await studio.submit(form, {f"k{n}": "x" for n in range(10_000)})
    assert reply.status == 422
    assert time.perf_counter() - started < 2
    assert len(reply.problems) == MAX_PROBLEMS


async def test_a_list_of_too_many_emails_is_refused_for_its_length(studio: StudioClient) -> None:
    """Without reading the emails: there may be a thousand."""
    emails = ["a@" + "中" * 20 + ".example"] * 1_000
    started = time.process_time()
    reply = await studio.post("/forms", {"title": "x", "settings": {"notification_emails": emails}})
    assert reply.problems == [(("body", "settings", "notification_emails"), "too_long")]
    assert time.process_time() - started < 0.5


async def test_rules_with_odd_values_never_fail(studio: StudioClient) -> None:
    """Whatever JSON is a rule's value, evaluation succeeds."""
    values: list[Any] = [None, True, [], [[]], {"a": {}}, 1e300, -0.0, 10**30, "x" * 999, ["\u202e", {}]]
    drawn = [field("c", "number")]
    pairs = [(op, value) for op in OPERATORS for value in values]
    for place, (op, value) in enumerate(pairs):
        if isinstance(value, list) and op not in LIST_OPERATORS:
            continue
        drawn.append(field(f"k{place}", display_when={"field_key": "c", "op": op, "value": value}))
    form = await studio.form(*drawn)
    for answer in ("1", "1e300", "x", ["1", "2"], [], ""):
        reply = await studio.post(f"/forms/{form['id']}/evaluate", {"data": {"c": answer}})
        assert reply.status == 200
        assert msgspec.json.decode(reply.body)["visible_fields"][0] == "c"


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
