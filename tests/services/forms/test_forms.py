"""Forms over HTTP: writing, reading, who sees which, and their events."""

from typing import Any

import msgspec
import pytest

from tests.services.forms.studio_client import EVERY_SCOPE, READER, StudioClient, field


async def test_unknown_properties_survive_create_update_and_read_unchanged(studio: StudioClient) -> None:
    """Of fields and settings: nested values, digits of numbers, order of keys, other scripts and emoji."""
    own = (
        '"x-icon":{"name":"★","sizes":[1,2.50,1e3],"deep":{"none":null}},"prix":1.10,'
        '"big":123456789012345678901234567890,"نص":"مرحبا","👋":["\\"quoted\\""]'
    )
    drawn = f'{{"key":"a","label":"A","type":"text",{own}}}'
    settings = f'{{"confirmation_message":"Thanks!",{own}}}'
    body = f'{{"title":"T","fields":[{drawn}],"settings":{settings}}}'.encode()
    made = await studio.post("/forms", body)
    assert made.status == 201
    form_id = made.json["id"]
    changed = await studio.put(f"/forms/{form_id}", {"title": "Another"})
    replaced = await studio.put(f"/forms/{form_id}", body)
    read = await studio.get(f"/forms/{form_id}")
    listed = await studio.get("/forms?include_drafts=true")
    kept = msgspec.json.decode(drawn)
    for reply in (made, changed, replaced, read, listed):
        shown = reply.json["data"][0] if "data" in reply.json else reply.json
        assert shown["fields"][0] | kept == shown["fields"][0]
        assert shown["settings"] == msgspec.json.decode(settings)
        assert reply.body.count(own.encode()) == 2, "not a byte of what the studio owns has changed"


async def test_a_form_is_shown_whole(studio: StudioClient) -> None:
    """Every tabulated property is present, its default where it was left out."""
    form = await studio.form(field("a"), title="Été 2026", description="d")
    assert (form["object"], form["slug"], form["version"]) == ("form", "ete-2026", 1)
    assert form["fields"][0] == {
        "key": "a", "label": "a", "type": "text", "required": False, "placeholder": None, "options": None,
        "options_layout": None, "order": 0, "help_text": None, "display_when": None, "step_index": None,
        "signature_purpose": None, "consent_policy_slug": None, "consent_policy_version": None,
        "consent_label": None, "accept": None, "max_file_size": None, "multiple": None, "max_rating": None,
        "min": None, "max": None,
    }  # fmt: skip
    assert (await studio.get(f"/forms/{form['id']}")).json == form


async def test_an_update_keeps_what_is_left_out_and_replaces_whole(studio: StudioClient) -> None:
    """`fields` and `settings` are not merged; the version grows with each change and only then."""
    form = await studio.form(field("a"), field("b"), settings={"x": 1, "y": 2}, description="d")
    path = f"/forms/{form['id']}"
    changed = (await studio.put(path, {"fields": [field("c")], "settings": {"z": 3}})).json
    assert [one["key"] for one in changed["fields"]] == ["c"]
    assert changed["settings"] == {"z": 3}
    assert (changed["title"], changed["description"], changed["version"]) == (form["title"], "d", 2)
    assert (await studio.put(path, {"description": None})).json["description"] is None
    assert (await studio.put(path, {"settings": {"z": 3}})).json["version"] == 3


async def test_a_slug_is_unique_in_the_studio(studio: StudioClient) -> None:
    """409 `slug_taken`, whether it was written or made from the title; other studios do not matter."""
    first = await studio.post("/forms", {"title": "Intake"})
    assert first.json["slug"] == "intake"
    for body in ({"title": "INTAKE!"}, {"title": "x", "slug": "intake"}):
        refused = await studio.post("/forms", body)
        assert (refused.status, refused.code) == (409, "slug_taken")
    other = (await studio.post("/forms", {"title": "Other"})).json
    assert (await studio.put(f"/forms/{other['id']}", {"slug": "intake"})).code == "slug_taken"
    elsewhere = "11111111-1111-4111-8111-111111111111"
    assert (await studio.post("/forms", {"title": "Intake"}, studio_id=elsewhere)).status == 201
    fallback = (await studio.post("/forms", {"title": "体験"})).json
    assert fallback["slug"] == f"form-{fallback['id'][:8]}"


@pytest.mark.parametrize(
    ("before", "wanted", "allowed"),
    [
        ("draft", "published", None),
        ("draft", "archived", None),
        ("published", "archived", None),
        ("archived", "published", None),
        ("published", "published", None),
        ("published", "draft", ["archived"]),
        ("archived", "draft", ["published"]),
    ],
)
async def test_a_form_goes_through_its_states(
    studio: StudioClient, before: str, wanted: str, allowed: list[str] | None
) -> None:
    """409 `invalid_state_transition` with from, to and allowed; the current state is no transition."""
    start = "published" if before == "archived" else before
    path = f"/forms/{(await studio.form(status=start))['id']}"
    if before == "archived":
        await studio.put(path, {"status": "archived"})
    reply = await studio.put(path, {"status": wanted})
    if allowed is None:
        assert (reply.status, reply.json["status"]) == (200, wanted)
    else:
        assert reply.code == "invalid_state_transition"
        assert reply.json["error"]["details"] == {"from": before, "to": wanted, "allowed": allowed}


async def test_drafts_are_for_form_managers(studio: StudioClient) -> None:
    """`include_drafts` without forms:write is 403; a draft read by id is 404; submitting is 404 or 409."""
    draft = await studio.form(status="draft")
    shown = await studio.form()
    path = f"/forms/{draft['id']}"
    assert [form["id"] for form in (await studio.get("/forms")).json["data"]] == [shown["id"]]
    assert len((await studio.get("/forms?include_drafts=true")).json["data"]) == 2
    refused = await studio.get("/forms?include_drafts=true", scopes=READER)
    assert (refused.status, refused.code) == (403, "insufficient_scope")
    assert refused.json["error"]["details"]["required_scope"] == "forms:write"
    for more in ("limit=0", "cursor=x", "limit=x&include_drafts=false&include_drafts=TRUE"):
        refused = await studio.get(f"/forms?include_drafts=true&{more}", scopes=READER)
        assert (refused.status, refused.code) == (403, "insufficient_scope"), more
    assert (await studio.get("/forms?include%5Fdrafts=true", scopes=READER)).status == 403
    for wrong in ("include_drafts=maybe", "include_drafts=false&limit=0", "limit=0&x=include_drafts"):
        assert (await studio.get(f"/forms?{wrong}", scopes=READER)).status == 422, wrong
    cursor = f"/forms?cursor={draft['id']}"
    assert (await studio.get(cursor, scopes=READER)).code == "invalid_cursor"
    assert (await studio.get(cursor)).status == 200
    assert (await studio.get(path)).status == 200
    assert (await studio.get(path, scopes=READER)).status == 404
    assert (await studio.post(f"{path}/evaluate", {"data": {}}, scopes=READER)).status == 404
    answers = {"submitter_email": "a@b.example", "data": {}}
    assert (await studio.post(f"{path}/submissions", answers, scopes=READER)).status == 404
    assert (await studio.post(f"{path}/submissions", answers)).code == "form_not_published"


def setting(name: str, value: Any) -> dict[str, Any]:
    return {"title": "x", "settings": {name: value}}


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        ({"title": " \t\u3000\n"}, ("body", "title"), "string_pattern_mismatch"),
        ({"title": ""}, ("body", "title"), "string_too_short"),
        ({"title": "x", "status": "archived"}, ("body", "status"), "enum"),
        ({"title": "x", "slug": "Not A Slug"}, ("body", "slug"), "string_pattern_mismatch"),
        ({"title": "x", "slug": "newline\n"}, ("body", "slug"), "string_pattern_mismatch"),
        ({"title": "x", "fields": [{"key": "a", "label": "b"}]}, ("body", "fields", 0, "type"), "missing"),
        ({"title": "x", "fields": [field("a", "dropdown")]}, ("body", "fields", 0, "type"), "enum"),
        (
            {"title": "x", "fields": [field("a", display_when={"field_key": "a", "op": "like"})]},
            ("body", "fields", 0, "display_when", "op"),
            "enum",
        ),
        (setting("closes_at", "2026-01-01T00:00:00"), ("body", "settings", "closes_at"), "timezone_aware"),
        (setting("max_submissions", "3"), ("body", "settings", "max_submissions"), "int_parsing"),
        (setting("redirect_url", "https://[half"), ("body", "settings", "redirect_url"), "value_error"),
        ({"title": "x", "settings": []}, ("body", "settings"), "object_type"),
    ],
)  # fmt: skip
async def test_an_invalid_form_is_refused_with_the_location_of_each_problem(
    studio: StudioClient, body: Any, loc: tuple[Any, ...], kind: str
) -> None:
    """422 with the place and the kind of problem, on create and on update alike."""
    reply = await studio.post("/forms", body)
    assert reply.status == 422
    assert reply.problems[0] == (loc, kind)


async def test_the_list_continues_after_a_form_that_is_no_longer_in_it(studio: StudioClient) -> None:
    """The cursor's row keeps its position although it is no longer published."""
    forms = [await studio.form() for _ in range(5)]
    page = (await studio.get("/forms?limit=2")).json
    await studio.put(f"/forms/{page['next_cursor']}", {"status": "archived"})
    for scopes in (EVERY_SCOPE, READER):
        rest = (await studio.get(f"/forms?cursor={page['next_cursor']}", scopes=scopes)).json
        assert [form["id"] for form in rest["data"]] == [form["id"] for form in forms[2:]]


async def test_integral_floats_of_a_form_are_stored_as_integers(studio: StudioClient) -> None:
    """Many languages write integers as `2.0`. Later submissions read the stored value as an integer."""
    drawn = '{"key":"a","label":"A","type":"text","order":2.0,"max_file_size":1e3,"own":2.0}'
    body = f'{{"title":"T","status":"published","fields":[{drawn}],"settings":{{"max_submissions":5.0}}}}'
    made = await studio.post("/forms", body.encode())
    assert made.status == 201
    assert b'"order":2,"max_file_size":1000,"own":2.0' in made.body
    assert b'"max_submissions":5}' in made.body
    path = f"/forms/{made.json['id']}"
    assert (await studio.post(f"{path}/evaluate", {"data": {"a": "x"}})).json["valid"]
    sent = await studio.post(f"{path}/submissions", {"submitter_email": "a@example.com", "data": {"a": "x"}})
    assert sent.status == 201


async def test_writers_get_all_events_of_a_form_and_readers_the_published_ones(studio: StudioClient) -> None:
    """Drafts go to writers only. Readers learn when a form is published and when it no longer is."""
    form = (await studio.post("/forms", {"title": "Draft"})).json
    for change in ({"title": "Still"}, {"status": "published"}, {"title": "Shown"}, {"status": "archived"}):
        assert (await studio.put(f"/forms/{form['id']}", change)).status == 200
    events = await studio.recorder.of_resource(form["id"], 7)
    told = [(event["type"], event.get("audience"), event["data"].get("previous")) for event in events]
    assert told == [
        ("form.created", "form_writers", None),
        ("form.updated", "form_writers", {"title": "Draft", "version": 1}),
        ("form.updated", "form_writers", {"status": "draft", "version": 2}),
        ("form.updated", "form_readers", None),
        ("form.updated", None, {"title": "Still", "version": 3}),
        ("form.updated", "form_writers", {"status": "published", "version": 4}),
        ("form.updated", "form_readers", None),
    ]
    assert events[3]["data"]["object"] == events[2]["data"]["object"]
    assert events[-1]["data"]["object"] == {"id": form["id"], "object": "form", "status": "archived"}
    assert events[-2]["data"]["object"] == (await studio.get(f"/forms/{form['id']}")).json


async def test_a_change_without_effect_creates_no_event(studio: StudioClient) -> None:
    """The next event is that of the next change."""
    form = await studio.form()
    await studio.put(f"/forms/{form['id']}", {"title": form["title"]})
    await studio.put(f"/forms/{form['id']}", {"title": "Other"})
    created, updated = await studio.recorder.of_resource(form["id"], 2)
    assert (created["type"], updated["type"]) == ("form.created", "form.updated")


async def test_reviewing_and_erasing_create_events_of_the_submission(studio: StudioClient) -> None:
    """Without the answers, like `form.submitted`. The event of the erased lead contains nothing personal."""
    form = await studio.form()
    lead = (await studio.post("/leads", {"email": "ann@example.com", "first_name": "Ann"})).json
    submission = (await studio.submit(form, {})).json
    path = f"/staff/forms/{form['id']}/submissions/{submission['id']}/review"
    assert (await studio.post(path, actor="operator")).status == 200
    person = {"studio_id": studio.id, "lead_ids": [lead["id"]], "emails": []}
    assert (await studio.post("/internal/erase", person, actor="operator")).status == 200
    events = await studio.recorder.of_resource(submission["id"], 3)
    assert [event["type"] for event in events] == [
        "form.submitted",
        "submission.updated",
        "submission.updated",
    ]
    assert [event["resource"]["version"] for event in events] == [1, 2, 3]
    thin = {"id": submission["id"], "object": "form_submission", "form_id": form["id"]}
    assert all(event["data"] == {"object": thin} for event in events)
    about_lead: list[Any] = await studio.recorder.of_resource(lead["id"], 3)
    assert about_lead[-1]["type"] == "lead.erased"
    assert about_lead[-1]["data"] == {"object": {"id": lead["id"], "object": "lead"}}


async def test_an_import_creates_events_for_what_it_changes(studio: StudioClient) -> None:
    """Unchanged lines create none."""
    form = {"object": "form", "id": studio.id, "title": "Intake", "status": "published"}
    await studio.import_lines(form, send_events=True)
    await studio.import_lines(form, send_events=True)
    await studio.import_lines(form | {"title": "Other"}, send_events=True)
    created, updated = await studio.recorder.of_resource(studio.id, 2)
    assert (created["type"], updated["type"]) == ("form.created", "form.updated")
    assert updated["data"]["previous"]["title"] == "Intake"
