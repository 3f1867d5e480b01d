"""Submissions over HTTP: answers, consents, lead context, staff, settings that turn them away, pages."""

import asyncio
from datetime import UTC, datetime, timedelta

from msgspec import Raw

from services.forms.store import submissions
from services.forms.wire.submissions import FormSubmission, SubmissionStatus
from shared.http.caller import Caller
from shared.http.pages import MAX_PAGE_BYTES
from shared.wire import new_id, now
from tests.services.forms.studio_client import StudioClient, field

CONSENT = field(
    "waiver",
    "consent",
    required=True,
    consent_policy_slug="waiver",
    consent_policy_version="2026-01",
    consent_label="I have read the waiver",
)


async def test_a_submission_is_stored_with_what_was_shown(studio: StudioClient) -> None:
    """The form's version and each shown consent's policy, so that the studio can prove what was agreed to."""
    hidden = field("hidden", "consent", display_when={"field_key": "goal", "op": "empty"})
    form = await studio.form(field("goal"), CONSENT, field("news", "consent"), hidden)
    path = f"/forms/{form['id']}/submissions"
    body = {
        "submitter_name": "Ann Lee",
        "submitter_email": " Ann@Example.com",
        "data": {"goal": "★ handstand", "waiver": "true"},
    }
    made = await studio.post(path, body)
    assert made.status == 201
    shown = made.json
    assert shown["created_at"].endswith("Z")
    assert {name: shown[name] for name in shown if name not in ("id", "created_at")} == {
        "object": "form_submission",
        "form_id": form["id"],
        "submitter_email": "ann@example.com",
        "submitter_name": "Ann Lee",
        "data": body["data"],
        "status": "pending",
        "form_version": 1,
        "consents": [
            {
                "key": "waiver",
                "given": True,
                "policy_slug": "waiver",
                "policy_version": "2026-01",
                "label": "I have read the waiver",
            },
            {"key": "news", "given": False, "policy_slug": None, "policy_version": None, "label": "news"},
        ],
    }
    await studio.put(f"/forms/{form['id']}", {"fields": [field("goal")]})
    assert (await studio.get(f"{path}/{shown['id']}")).json == shown
    assert (await studio.get(path)).json["data"] == [shown]
    (event,) = await studio.recorder.first(1)
    assert event["type"] == "form.submitted"
    assert event["data"] == {
        "object": {"id": shown["id"], "object": "form_submission", "form_id": form["id"]}
    }
    assert (event["resource"], event["location_id"]) == (
        {"object": "form_submission", "id": shown["id"], "version": 1},
        None,
    )


async def test_wrong_answers_are_named_and_nothing_is_stored(studio: StudioClient) -> None:
    """Every problem at its key; other JSON types are refused before the form is looked up."""
    shown_when = {"field_key": "a", "op": "eq", "value": "yes"}
    form = await studio.form(field("a", required=True), field("b", display_when=shown_when), CONSENT)
    refused = await studio.submit(form, {"b": "x", "zzz": "y", "waiver": "false"})
    assert sorted(refused.problems) == [
        (("body", "data", "a"), "missing"),
        (("body", "data", "b"), "field_not_visible"),
        (("body", "data", "waiver"), "consent_required"),
        (("body", "data", "zzz"), "unknown_field"),
    ]
    assert (await studio.get(f"/forms/{form['id']}/submissions")).json["data"] == []
    long = await studio.submit(form, {"a": "x" * 5_001, "waiver": "true"})
    assert "5000" in long.json["detail"][0]["msg"], "the limit is said"
    nowhere = {"id": studio.id}
    odd = {"a": 1, "b": None, "c": {"d": 1}, "e": ["x", 2], "f": True, "ok": "1", "also": []}
    assert [loc[-1] for loc, _ in (await studio.submit(nowhere, odd)).problems] == ["a", "b", "c", "e", "f"]
    assert (await studio.submit(nowhere, {"a": "1"})).status == 404
    assert (await studio.submit(form, {}, email="x")).problems == [
        (("body", "submitter_email"), "value_error")
    ]


async def test_a_submission_is_added_to_the_leads_metadata(studio: StudioClient) -> None:
    """The context is added to its metadata, with an event for the change; other emails change nothing."""
    lead = (await studio.post("/leads", {"email": "ann@example.com", "metadata": {"a": 1}})).json
    form = await studio.form()
    first = (await studio.submit(form, {}, "Ann@example.com")).json
    second = (await studio.submit(form, {}, "ann@example.com")).json
    await studio.submit(form, {}, "bob@example.com")
    metadata = (await studio.get(f"/leads/{lead['id']}")).json["metadata"]
    assert metadata == {
        "a": 1,
        "form_submissions": [
            {
                "form_id": form["id"],
                "form_slug": form["slug"],
                "submission_id": made["id"],
                "submitted_at": made["created_at"],
            }
            for made in (first, second)
        ],
    }
    events = await studio.recorder.first(6)
    updates = [event for event in events if event["type"] == "lead.updated"]
    assert [event["resource"]["version"] for event in updates] == [2, 3]
    assert updates[-1]["data"]["object"]["metadata"] == metadata


async def test_twenty_submissions_of_one_lead_at_once_all_reach_it(studio: StudioClient) -> None:
    """None overwrites another's context."""
    lead = (await studio.post("/leads", {"email": "ann@example.com"})).json
    form = await studio.form()
    await asyncio.gather(*(studio.submit(form, {}, "ann@example.com") for _ in range(20)))
    metadata = (await studio.get(f"/leads/{lead['id']}")).json["metadata"]
    assert len({entry["submission_id"] for entry in metadata["form_submissions"]}) == 20


async def test_staff_review_and_reject(studio: StudioClient) -> None:
    """pending → reviewed | rejected, once; partners cannot."""
    form = await studio.form()
    made = (await studio.submit(form, {})).json
    path = f"/staff/forms/{form['id']}/submissions/{made['id']}"
    assert (await studio.post(f"{path}/review")).status == 404
    assert (await studio.post(f"{path}/review", actor="operator")).json["status"] == "reviewed"
    refused = await studio.post(f"{path}/reject", actor="operator")
    assert refused.json["error"]["details"] == {"from": "reviewed", "to": "rejected", "allowed": []}
    shown = await studio.get(f"/forms/{form['id']}/submissions/{made['id']}")
    assert shown.json["status"] == "reviewed"


async def test_a_submission_is_found_under_its_own_form_only(studio: StudioClient) -> None:
    """The list continues after the cursor."""
    form, other = await studio.form(), await studio.form()
    made = [(await studio.submit(form, {})).json["id"] for _ in range(5)]
    assert (await studio.get(f"/forms/{other['id']}/submissions/{made[0]}")).status == 404
    assert (await studio.get(f"/forms/{other['id']}/submissions?cursor={made[0]}")).status == 400
    page = (await studio.get(f"/forms/{form['id']}/submissions?limit=3")).json
    rest = (await studio.get(f"/forms/{form['id']}/submissions?limit=3&cursor={page['next_cursor']}")).json
    assert [one["id"] for one in page["data"] + rest["data"]] == made


async def test_phones_are_read_in_the_studios_national_format(studio: StudioClient) -> None:
    """The studio's time zone determines the country."""
    form = await studio.form(field("phone", "phone"))
    assert (await studio.submit(form, {"phone": "020 7946 0018"})).status == 422
    await studio.import_lines({"object": "studio", "id": studio.id, "name": "S", "timezone": "Europe/London"})
    assert (await studio.submit(form, {"phone": "020 7946 0018"})).status == 201
    evaluated = (await studio.post(f"/forms/{form['id']}/evaluate", {"data": {"phone": "12"}})).json
    assert evaluated["problems"][0]["type"] == "phone_parsing"


async def test_a_numeric_option_matches_however_it_is_written(studio: StudioClient) -> None:
    """Numbers are compared as decimals: the option 1.10 is answered by 1.10 or 1.1."""
    options = b'[1.10,{"value":0.12345678901234567890},1e2]'
    drawn = b'{"key":"a","label":"a","type":"select","options":%s}' % options
    rule = b'{"field_key":"a","op":"eq","value":0.12345678901234567890}'
    hidden = b'{"key":"b","label":"b","type":"text","required":true,"display_when":%s}' % rule
    made = await studio.post(
        "/forms", b'{"title":"x","status":"published","fields":[%s,%s]}' % (drawn, hidden)
    )
    for answer in ("1.10", "1.1", "100", "1e2"):
        assert (await studio.submit(made.json, {"a": answer})).status == 201, answer
    assert (await studio.submit(made.json, {"a": "0.12345678901234567890"})).problems == [
        (("body", "data", "b"), "missing")
    ]
    for answer in ("1.11", "0.12345678901234568", "one"):
        problems = (await studio.submit(made.json, {"a": answer})).problems
        assert problems == [(("body", "data", "a"), "not_an_option")], answer


async def test_settings_turn_submissions_away(studio: StudioClient) -> None:
    """409 `form_closed`, `submission_limit_reached`, `already_submitted`, before the answers are read."""
    closed = await studio.form(settings={"closes_at": (datetime.now(UTC) - timedelta(seconds=1)).isoformat()})
    open_ = await studio.form(settings={"closes_at": (datetime.now(UTC) + timedelta(hours=1)).isoformat()})
    assert (await studio.submit(closed, {"zzz": "y"})).code == "form_closed"
    assert (await studio.submit(open_, {})).status == 201
    full = await studio.form(settings={"max_submissions": 1})
    assert [(await studio.submit(full, {})).status for _ in range(2)] == [201, 409]
    assert (await studio.submit(full, {"zzz": "y"})).code == "submission_limit_reached"
    once = await studio.form(settings={"one_submission_per_email": True})
    first = await studio.submit(once, {}, "ann@example.com")
    again = await studio.submit(once, {}, "ANN@Example.com")
    assert again.code == "already_submitted"
    assert again.json["error"]["details"] == {"submission_id": first.json["id"]}
    assert (await studio.submit(once, {}, "bob@example.com")).status == 201


async def test_limits_hold_under_a_race(studio: StudioClient) -> None:
    """Sixty at once: exactly ten places are given; sixty at once with one email: exactly one."""
    ten = await studio.form(settings={"max_submissions": 10})
    replies = await asyncio.gather(*(studio.submit(ten, {}, f"p{n}@example.com") for n in range(60)))
    assert sorted(reply.status for reply in replies) == [201] * 10 + [409] * 50
    once = await studio.form(settings={"one_submission_per_email": True})
    replies = await asyncio.gather(*(studio.submit(once, {}, "ann@example.com") for _ in range(60)))
    assert sorted(reply.status for reply in replies) == [201] + [409] * 59


async def test_without_the_lock_the_same_race_breaks_the_limit(studio: StudioClient) -> None:
    """The positive control: counting and inserting without the form's row lock lets too many through."""

    form = await studio.form(settings={"max_submissions": 10})
    caller = Caller(studio_id=studio.id)

    async def count_then_insert(number: int) -> None:
        async with studio.service.context.db.transaction() as conn:
            if not await submissions.has_reached(conn, caller, form["id"], 10):
                row = FormSubmission(
                    id=new_id(),
                    form_id=form["id"],
                    submitter_email=f"p{number}@example.com",
                    data=Raw(b"{}"),
                    status=SubmissionStatus.PENDING,
                    created_at=now(),
                    submitter_name=None,
                    form_version=1,
                    consents=[],
                )
                await submissions.insert(conn, caller, row, None)

    await asyncio.gather(*(count_then_insert(number) for number in range(60)))
    assert len((await studio.get(f"/forms/{form['id']}/submissions?limit=200")).json["data"]) > 10


ROWS = 14


async def test_a_page_of_large_submissions_ends_early_with_an_exact_cursor(studio: StudioClient) -> None:
    """A page was bounded by rows only: 200 submissions of 245 KB made an answer of 49 MB."""
    form = await studio.form(*(field(f"story{number}", "textarea") for number in range(10)))
    for number in range(ROWS):
        answers = {f"story{part}": "x" * 10_000 for part in range(10)}
        sent = await studio.submit(form, answers, f"a{number}@example.com")
        assert sent.status == 201, sent.json
    seen: list[str] = []
    cursor = ""
    while True:
        answer = await studio.get(f"/forms/{form['id']}/submissions?limit=200{cursor}")
        assert len(answer.body) < MAX_PAGE_BYTES + 2_000
        page = answer.json
        seen += [row["submitter_email"] for row in page["data"]]
        if not page["has_more"]:
            break
        assert page["next_cursor"] == page["data"][-1]["id"]
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == [f"a{number}@example.com" for number in range(ROWS)]
