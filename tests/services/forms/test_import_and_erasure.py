"""What operators do: import, and erase a person, also one who changed, came back or was imported.

And what a new member does to a lead.
"""

import asyncio
from typing import Any

from shared.events.bus import NEW_MEMBERS, Message
from shared.events.envelope import render
from shared.events.event import Event, EventResource
from shared.events.kinds import MemberCreated
from shared.wire import new_id
from tests.harness.send_events import send_events
from tests.services.forms.studio_client import StudioClient, field


def member_created(studio: StudioClient, *email: str | None) -> Message:
    """Without an email, of a member who was erased before the event was sent."""
    member_id = new_id()
    event = Event(
        kind=MemberCreated,
        studio_id=studio.id,
        resource=EventResource("member", member_id, 1),
        data={"id": member_id, "object": "member"} | ({"email": email[0]} if email else {}),
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
        {"object": "lead", "id": "12", "email": "b@example.com"},
    ]
    report = await studio.import_lines(*lines)
    assert report["imported"] == 2
    reasons = {one["line"]: one["reason"] for one in report["rejected"]}
    assert sorted(reasons) == [2, 3, 4, 5, 6, 7, 9]
    assert reasons[9] == "id: An id is a UUID.", "in words for the author of the file"
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
    """And a message that can never be read is refused, so that it does not hold up the next.

    Of a member who was erased meanwhile the event shows only ids, or an erased address.
    """
    lead = (await studio.post("/leads", {"email": "ann@example.com"})).json
    messages = [
        member_created(studio, "nobody-knows@example.com"),
        member_created(studio, None),
        member_created(studio, f"erased-{new_id()}@erased.invalid"),
        member_created(studio),
        Message(new_id(), "member.created", b"{}"),
        member_created(studio, "ann@example.com"),
    ]
    reply = await send_events(studio.bus, messages, NEW_MEMBERS)
    assert [one.event_id for one in reply.refused] == [messages[4].id]
    assert len(reply.stored) == 5
    assert (await studio.get(f"/leads/{lead['id']}")).json["status"] == "converted"


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
    person: dict[str, Any] = {"studio_id": studio.id, "lead_ids": [lead["id"]], "emails": []}
    erased = await studio.post("/internal/erase", person, actor="operator")
    assert (erased.json["leads"], erased.json["submissions"]) == (1, 2)
    assert (erased.json["emails"], erased.json["lead_ids"]) == (["ann.married@example.com"], [lead["id"]])
    person |= {"emails": ["ann.MARRIED@example.com"]}
    again = await studio.post("/internal/erase", person, actor="operator")
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


async def erase(studio: StudioClient, lead_id: str, *emails: str) -> tuple[int, int]:
    body = {"studio_id": studio.id, "lead_ids": [lead_id], "emails": emails}
    reply = await studio.post("/internal/erase", body, actor="operator")
    assert reply.status == 200, reply.body
    return reply.json["leads"], reply.json["submissions"]


async def submissions(studio: StudioClient, form: dict[str, Any]) -> list[str]:
    listed = (await studio.get(f"/forms/{form['id']}/submissions")).json["data"]
    return [one["submitter_email"].split("@")[1] for one in listed]


async def test_an_erased_lead_that_was_written_to_again_is_erased_again(studio: StudioClient) -> None:
    """The named lead is always checked. One with nothing left to erase is left alone."""
    lead = (await studio.post("/leads", {"email": "ann@example.com"})).json["id"]
    assert await erase(studio, lead) == (1, 0)
    assert await erase(studio, lead) == (0, 0)
    version = (await studio.get(f"/staff/leads/{lead}", actor="operator")).json["version"]
    changes: list[dict[str, Any]] = [
        {"first_name": "Ann"}, {"last_name": "Lee"}, {"phone": "+442079460018"}, {"notes": "Ann"},
        {"metadata": {"who": "Ann"}}, {"email": "ann@example.com"},
    ]  # fmt: skip
    for change in changes:
        assert (await studio.patch(f"/leads/{lead}", change)).status == 200
        assert await erase(studio, lead) == (1, 0), change
    shown = await studio.get(f"/staff/leads/{lead}", actor="operator")
    assert shown.json["version"] == version + 2 * len(changes)
    assert b"Ann" not in shown.body and b"ann" not in shown.body


async def test_a_free_text_source_is_erased_too(studio: StudioClient) -> None:
    """Free text may name who sent the person; the specification's own values name nobody and stay."""
    for source, left in (("Ann's aunt", None), ("partner_api", "partner_api"), ("waitlist", "waitlist")):
        body = {"email": f"{new_id()}@example.com", "source": source}
        lead = (await studio.post("/leads", body)).json["id"]
        assert await erase(studio, lead) == (1, 0)
        assert (await studio.get(f"/leads/{lead}")).json["source"] == left


async def test_submissions_under_every_earlier_email_are_erased(studio: StudioClient) -> None:
    """From before the lead existed, between two changes, and under the current email; no one else's."""
    form = await studio.form(field("name"))
    await studio.submit(form, {"name": "Ann"}, "first@example.com")
    lead = (await studio.post("/leads", {"email": "first@example.com"})).json["id"]
    for email in ("second@example.com", "third@example.com"):
        await studio.patch(f"/leads/{lead}", {"email": email})
        await studio.submit(form, {"name": "Ann"}, email)
    await studio.submit(form, {"name": "Bob"}, "bob@example.com")
    assert await erase(studio, lead) == (1, 3)
    assert await submissions(studio, form) == ["erased.invalid"] * 3 + ["example.com"]
    assert await erase(studio, lead) == (0, 0)


async def test_the_stored_response_of_an_erased_submission_is_anonymous(studio: StudioClient) -> None:
    form, key = await studio.form(field("name")), new_id()
    lead = (await studio.post("/leads", {"email": "ann@example.com"})).json["id"]
    first = await studio.submit(form, {"name": "Ann"}, key=key)
    assert (await studio.submit(form, {"name": "Ann"}, key=key)).body == first.body
    assert await erase(studio, lead) == (1, 1)
    again = (await studio.submit(form, {"name": "Ann"}, key=key)).json
    assert (again["id"], again["data"]) == (first.json["id"], {})
    assert again["submitter_email"].endswith("@erased.invalid")


async def test_that_a_form_is_a_draft_is_not_repeated_to_a_key_that_may_not_know(
    studio: StudioClient,
) -> None:
    form, key = await studio.form(field("name"), status="draft"), new_id()
    assert (await studio.submit(form, {"name": "Ann"}, key=key)).status == 409
    assert (await studio.submit(form, {"name": "Ann"}, key=key)).status == 409
    submits_only = frozenset({"form_submissions:write"})
    assert (await studio.submit(form, {"name": "Ann"}, key=key, scopes=submits_only)).status == 404


async def test_a_repeated_submission_is_not_checked_against_a_form_that_has_changed(
    studio: StudioClient,
) -> None:
    """It was accepted, so it gets its first response."""
    form, key = await studio.form(field("name")), new_id()
    first = await studio.submit(form, {"name": "Ann"}, key=key)
    changed = {"fields": [field("name"), field("age", required=True)]}
    assert (await studio.put(f"/forms/{form['id']}", changed)).status == 200
    assert (await studio.submit(form, {"name": "Ann"})).status == 422
    assert (await studio.submit(form, {"name": "Ann"}, key=key)).body == first.body


async def test_imported_submissions_are_erased_too(studio: StudioClient) -> None:
    """Whether the lead's email changes by a call or by an import after them."""
    form = await studio.form(field("name"))
    lead, past = new_id(), {"object": "form_submission", "form_id": form["id"], "data": {"name": "Ann"}}
    line = {"object": "lead", "id": lead, "email": "first@example.com"}
    old = [past | {"id": new_id(), "submitter_email": "first@example.com"} for _ in range(2)]
    await studio.import_lines(*old, line)
    await studio.import_lines(line | {"email": "second@example.com"})
    await studio.import_lines(past | {"id": new_id(), "submitter_email": "second@example.com"}, *old)
    await studio.patch(f"/leads/{lead}", {"email": "third@example.com"})
    assert await erase(studio, lead) == (1, 3)
    assert await submissions(studio, form) == ["erased.invalid"] * 3
