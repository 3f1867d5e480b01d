"""What operators do: import, erase; and what a new member does to a lead."""

import asyncio
from typing import Any

from shared.events.bus import NEW_MEMBERS, Message
from shared.events.envelope import render
from shared.events.event import Event, EventResource
from shared.events.kinds import MemberCreated
from shared.wire import new_id
from tests.harness.send_events import send_events
from tests.services.forms.studio_client import StudioClient, field


def member_created(studio: StudioClient, email: str | None) -> Message:
    member_id = new_id()
    event = Event(
        kind=MemberCreated,
        studio_id=studio.id,
        resource=EventResource("member", member_id, 1),
        data={"id": member_id, "object": "member", "email": email, "first_name": "Ann"},
        request_id="from-the-member",
    )
    return Message(event.id, event.type, render(event))


async def test_forms_submissions_and_leads_are_imported_in_any_order(studio: StudioClient) -> None:
    """What a GET returns can be imported, with the hidden fields; unknown properties are kept here too."""
    form_id, submission_id, lead_id = new_id(), new_id(), new_id()
    submission = {
        "object": "form_submission",
        "id": submission_id.upper(),
        "form_id": form_id,
        "submitter_email": "Ann@Example.com",
        "data": {"old": "answer"},
        "status": "reviewed",
        "created_at": "2025-01-02T03:04:05+02:00",
    }
    form = {
        "object": "form",
        "id": form_id,
        "title": "Intake",
        "slug": "intake",
        "fields": [field("goal") | {"x-own": [1, {"a": None}]}],
        "settings": {"odd": 1},
        "status": "published",
        "version": 7,
    }
    lead = {"object": "lead", "id": lead_id, "email": "Ann@Example.com", "status": "qualified", "notes": "n"}
    report = await studio.import_lines(submission, lead, form)
    assert report == {"imported": 3, "rejected": []}
    shown = (await studio.get(f"/forms/{form_id}")).json
    assert (shown["version"], shown["settings"]) == (7, {"odd": 1})
    assert shown["fields"][0]["x-own"] == [1, {"a": None}]
    found = (await studio.get(f"/forms/{form_id}/submissions/{submission_id}")).json
    assert (found["submitter_email"], found["status"]) == ("ann@example.com", "reviewed")
    assert found["created_at"] == "2025-01-02T01:04:05Z"
    assert (await studio.get(f"/leads/{lead_id}")).json["source"] is None
    assert (await studio.import_lines(shown))["rejected"] == []
    assert (await studio.get(f"/forms/{form_id}")).json["version"] == 7
    assert (await studio.import_lines(found, lead))["rejected"] == []
    assert studio.recorder.events == []


async def test_each_bad_line_is_reported_and_the_good_ones_are_imported(studio: StudioClient) -> None:
    """By number and reason: shape, a form's rules, emails, missing references, taken values."""
    good, taken = new_id(), new_id()
    lines: list[Any] = [
        {"object": "lead", "id": good, "email": "ann@example.com"},
        {"object": "lead", "id": new_id(), "email": "nobody"},
        {"object": "lead", "id": taken, "email": "ANN@example.com"},
        {"object": "lead", "id": new_id(), "email": "b@example.com", "stauts": "new"},
        {"object": "form", "id": new_id(), "title": "x", "fields": [field("a"), field("a")]},
        {"object": "form_submission", "id": new_id(), "form_id": new_id(), "submitter_email": "a@b.example"},
        {"object": "booking", "id": new_id()},
        {"object": "lead", "id": good, "email": "ann@example.com", "first_name": "Ann"},
    ]
    report = await studio.import_lines(*lines)
    assert report["imported"] == 2
    reasons = {one["line"]: one["reason"] for one in report["rejected"]}
    assert sorted(reasons) == [2, 3, 4, 5, 6, 7]
    assert "email" in reasons[3]
    assert "stauts" in reasons[4]
    assert "Another field has this key" in reasons[5]
    assert "form_id" in reasons[6]
    assert (await studio.get(f"/leads/{good}")).json["first_name"] == "Ann"


async def test_lines_imported_in_opposite_orders_at_once_do_not_block_each_other(
    studio: StudioClient,
) -> None:
    """Every import of a studio waits for the one before it."""
    lines = [{"object": "lead", "id": new_id(), "email": f"p{n}@example.com"} for n in range(300)]
    orders = [lines, lines[::-1], lines, lines[::-1], lines, lines[::-1]]
    reports = await asyncio.gather(*(studio.import_lines(*order) for order in orders))
    assert [report["imported"] for report in reports] == [300] * 6


async def test_a_new_member_converts_the_lead_with_its_email(studio: StudioClient) -> None:
    """`converted` and `member`, once per event, with an event of its own; other studios' leads stay."""
    lead = (await studio.post("/leads", {"email": "ann@example.com"})).json
    await studio.patch(f"/leads/{lead['id']}", {"status": "unqualified"})
    message = member_created(studio, "ANN@example.com")
    await send_events(studio.bus, [message], NEW_MEMBERS)
    shown = (await studio.get(f"/leads/{lead['id']}")).json
    assert (shown["status"], shown["lifecycle_stage"]) == ("converted", "member")
    await studio.patch(f"/leads/{lead['id']}", {"status": "unqualified"})
    await send_events(studio.bus, [message], NEW_MEMBERS)
    assert (await studio.get(f"/leads/{lead['id']}")).json["status"] == "unqualified"
    events = await studio.recorder.first(4)
    updates = [event for event in events if event["type"] == "lead.updated"]
    assert [event["resource"]["version"] for event in updates] == [2, 3, 4]
    assert updates[1]["data"]["object"] == shown
    assert updates[1]["request_id"] == "from-the-member"


async def test_members_without_a_lead_or_an_email_cause_no_event(studio: StudioClient) -> None:
    """And a message that can never be read is refused, so that it does not hold up the next."""
    lead = (await studio.post("/leads", {"email": "ann@example.com"})).json
    messages = [
        member_created(studio, "nobody-knows@example.com"),
        member_created(studio, None),
        Message(new_id(), "member.created", b"{}"),
        member_created(studio, "ann@example.com"),
    ]
    reply = await send_events(studio.bus, messages, NEW_MEMBERS)
    assert [one.event_id for one in reply.refused] == [messages[2].id]
    assert len(reply.stored) == 3
    assert (await studio.get(f"/leads/{lead['id']}")).json["status"] == "converted"


async def test_a_member_who_was_erased_meanwhile_is_taken_and_converts_nobody(studio: StudioClient) -> None:
    """The event shows only ids by then. An erased address is no address, and no reason to refuse."""
    event = Event(
        kind=MemberCreated,
        studio_id=studio.id,
        resource=EventResource("member", member_id := new_id(), 1),
        data={"id": member_id, "object": "member"},
    )
    erased = member_created(studio, f"erased-{member_id}@erased.invalid")
    message = Message(event.id, event.type, render(event))
    reply = await send_events(studio.bus, [message, erased], NEW_MEMBERS)
    assert (len(reply.stored), reply.refused) == (2, [])


async def test_a_lead_that_the_event_log_does_not_know_is_named_and_not_erased(studio: StudioClient) -> None:
    """Its row is the only link to its events. Once it is named, lead and submissions go."""
    form = await studio.form(field("name"))
    lead = (await studio.post("/leads", {"email": "ann@example.com"})).json["id"]
    await studio.submit(form, {"name": "Ann"}, "ann@example.com")
    person = {"studio_id": studio.id, "member_ids": [new_id()], "emails": ["ann@example.com"]}
    found = (await studio.post("/internal/erase", person, actor="operator")).json
    assert found == {"leads": 0, "submissions": 0, "emails": ["ann@example.com"], "lead_ids": [lead]}
    assert (await studio.get(f"/leads/{lead}")).json["email"] == "ann@example.com"
    named = person | {"lead_ids": [lead]}
    erased = (await studio.post("/internal/erase", named, actor="operator")).json
    assert (erased["leads"], erased["submissions"]) == (1, 1)


async def test_an_erased_person_becomes_anonymous_and_the_counts_stay(studio: StudioClient) -> None:
    """Lead, submissions and their answers lose the person; consents keep the policy; others are untouched."""
    consent = field("c", "consent", consent_policy_slug="waiver", consent_policy_version="1")
    form = await studio.form(field("name"), consent)
    lead = (await studio.post("/leads", {"email": "ann@example.com", "first_name": "Ann"})).json
    await studio.patch(f"/leads/{lead['id']}", {"phone": "+442079460018", "notes": "Ann's secret"})
    for email in ("ann@example.com", "ann@example.com", "bob@example.com"):
        assert (await studio.submit(form, {"name": email, "c": "true"}, email)).status == 201
    await studio.patch(f"/leads/{lead['id']}", {"email": "ann.married@example.com"})
    person = {"studio_id": studio.id, "lead_ids": [lead["id"]], "emails": []}
    erased = await studio.post("/internal/erase", person, actor="operator")
    assert erased.json == {
        "leads": 1,
        "submissions": 2,
        "emails": ["ann.married@example.com"],
        "lead_ids": [lead["id"]],
    }
    again = await studio.post(
        "/internal/erase", {**person, "emails": ["ann.MARRIED@example.com"]}, actor="operator"
    )
    assert (again.json["leads"], again.json["submissions"]) == (0, 0)
    listed = await studio.get(f"/forms/{form['id']}/submissions")
    staff = await studio.get(f"/staff/leads/{lead['id']}", actor="operator")
    for reply in (listed, staff):
        assert b"ann" not in reply.body.lower().replace(b"cannot", b"")
        assert b"7946" not in reply.body
    assert len(listed.json["data"]) == 3
    assert [one["consents"][0]["policy_slug"] for one in listed.json["data"]] == ["waiver"] * 3
    assert [one["data"] for one in listed.json["data"]][2]["name"] == "bob@example.com"
    assert (await studio.post("/internal/erase", person)).status == 404
    fresh = await studio.post("/leads", {"email": "ann@example.com"})
    assert fresh.json["created"] is True
