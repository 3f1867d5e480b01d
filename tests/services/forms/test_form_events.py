"""Changes of forms, submissions and erased leads create events."""

from typing import Any

from tests.services.forms.studio_client import StudioClient


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
