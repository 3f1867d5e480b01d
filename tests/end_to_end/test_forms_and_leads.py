"""Forms and leads as a partner sees them: through the gateway, with keys, events and staff."""

import asyncio
from typing import Any

from shared.wire import new_id
from tests.harness.http import Client
from tests.harness.system import System


def field(key: str, type: str = "text", **properties: Any) -> dict[str, Any]:
    return {"key": key, "label": key, "type": type, **properties}


async def partner(system: System, *scopes: str) -> Client:
    return system.partner(await system.key(scopes or ("all",)))


async def test_a_lead_fills_in_a_form_and_everyone_who_may_hears_of_it(system: System) -> None:
    """The flow of the specification: lead, evaluate, submit, form context, thin event, fetch by id."""
    client = await partner(system)
    shown_when = {"field_key": "injured", "op": "eq", "value": "true"}
    drawn = [field("injured", "checkbox"), field("where", required=True, display_when=shown_when)]
    form = await client.post("/forms", {"title": "Intake", "status": "published", "fields": drawn})
    assert form.status == 201
    path = f"/forms/{form.json()['id']}"
    lead = await client.post("/leads", {"email": "Ann@Example.com", "utm_source": "flyer"})
    assert lead.json()["created"] is True
    evaluated = await client.post(f"{path}/evaluate", {"data": {"injured": "true"}})
    assert evaluated.json()["required_fields"] == ["where"]
    assert [problem["type"] for problem in evaluated.json()["problems"]] == ["missing"]
    body = {"submitter_email": "ann@example.com", "data": {"injured": "true", "where": "knee"}}
    submitted = await client.post(f"{path}/submissions", body)
    assert submitted.status == 201
    read = (await client.get(f"/leads/{lead.json()['id']}")).json()
    assert read["metadata"]["form_submissions"][0]["submission_id"] == submitted.json()["id"]
    events = await client.until("/events", lambda page: len(page["data"]) == 4)
    assert [event["type"] for event in events["data"]] == [
        "form.created",
        "lead.created",
        "form.submitted",
        "lead.updated",
    ]
    thin = events["data"][2]["data"]["object"]
    assert set(thin) == {"id", "object", "form_id"}
    assert (await client.get(f"{path}/submissions/{thin['id']}")).json() == submitted.json()


async def test_each_scope_opens_its_own_door(system: System) -> None:
    """403 names the missing scope, before anything is looked up."""
    form_id = new_id()
    doors = [
        ("GET", "/forms", "forms:read"),
        ("POST", "/forms", "forms:write"),
        ("PUT", f"/forms/{form_id}", "forms:write"),
        ("POST", f"/forms/{form_id}/evaluate", "forms:read"),
        ("GET", f"/forms/{form_id}/submissions", "form_submissions:read"),
        ("POST", f"/forms/{form_id}/submissions", "form_submissions:write"),
        ("GET", "/leads", "leads:read"),
        ("POST", "/leads", "leads:write"),
        ("PATCH", f"/leads/{form_id}", "leads:write"),
        ("POST", f"/leads/{form_id}/update", "leads:write"),
    ]
    stranger = await partner(system, "studio:read")
    for method, path, scope in doors:
        refused = await stranger.send(method, path, {} if method != "GET" else None)
        assert (refused.status, refused.json()["error"]["details"]["required_scope"]) == (403, scope), path
    reader = await partner(system, "forms:read")
    assert (await reader.get("/forms")).status == 200
    assert (await reader.get("/forms", include_drafts=True)).code == "insufficient_scope"


async def test_a_hundred_creations_at_once_through_the_gateway_are_one_lead(system: System) -> None:
    """Case variants of one email: one lead, one `created: true`, one `lead.created` in the event log."""
    client = await partner(system)
    emails = [f"{'Ann' if n % 2 else 'ANN'}@{'example' if n % 3 else 'EXAMPLE'}.com" for n in range(100)]
    replies = await asyncio.gather(*(client.post("/leads", {"email": email}) for email in emails))
    assert {reply.status for reply in replies} == {201}
    assert [reply.json()["created"] for reply in replies].count(True) == 1
    await client.post("/leads", {"email": "last@example.com"})
    events = await client.until("/events", lambda page: len(page["data"]) >= 2)
    assert [event["data"]["object"]["email"] for event in events["data"]] == [
        "ann@example.com",
        "last@example.com",
    ]


async def test_a_new_member_converts_the_lead(system: System) -> None:
    """Through an event from the bookings service to this one."""
    client = await partner(system)
    lead = (await client.post("/leads", {"email": "ann@example.com"})).json()
    member = {"email": "ANN@example.com", "first_name": "Ann", "last_name": "Lee"}
    assert (await client.post("/members", member)).status == 201
    path = f"/leads/{lead['id']}"
    read = await client.until(path, lambda found: found["status"] == "converted")
    assert read["lifecycle_stage"] == "member"


async def test_staff_work_on_forms_submissions_and_leads(system: System) -> None:
    """Operators create, change, review, and read notes, under their own API; partners see the outcome."""
    client = await partner(system)
    studio = f"/studios/{system.studio_id}"
    form = (await system.operator.post(f"{studio}/forms", {"title": "Waiver"})).json()
    path = f"/forms/{form['id']}"
    assert (await system.operator.put(f"{studio}{path}", {"status": "published"})).status == 200
    made = (await client.post(f"{path}/submissions", {"submitter_email": "a@b.example", "data": {}})).json()
    reviewed = await system.operator.post(f"{studio}{path}/submissions/{made['id']}/review")
    assert (reviewed.status, reviewed.json()["status"]) == (200, "reviewed")
    lead = (await client.post("/leads", {"email": "a@b.example"})).json()
    await client.patch(f"/leads/{lead['id']}", {"notes": "Call after six."})
    read = (await system.operator.get(f"{studio}/leads/{lead['id']}")).json()
    assert read["notes"] == "Call after six."
    assert "notes" not in (await client.get(f"/leads/{lead['id']}")).json()


async def test_forms_and_leads_are_imported(system: System) -> None:
    """What a GET returns can be imported again, and a bad line is reported."""
    client = await partner(system)
    form_id = new_id()
    lines: list[dict[str, Any]] = [
        {"object": "form", "id": form_id, "title": "T", "slug": "t", "fields": [field("a") | {"x": [1]}]},
        {"object": "form_submission", "id": new_id(), "form_id": form_id, "submitter_email": "a@b.example"},
        {"object": "lead", "id": new_id(), "email": "a@b.example", "status": "qualified"},
    ]
    await system.import_lines(lines)
    shown = (await client.get(f"/forms/{form_id}")).json()
    assert shown["fields"][0]["x"] == [1]
    assert len((await client.get(f"/forms/{form_id}/submissions")).json()["data"]) == 1
    await system.import_lines([shown, (await client.get("/leads")).json()["data"][0]])
    report = await system.try_import(b'{"object":"lead","id":"%s","email":"x"}' % new_id().encode())
    assert [one["line"] for one in report["rejected"]] == [1]
    assert (await client.get("/events")).json()["data"] == []
