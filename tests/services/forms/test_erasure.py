"""Erasing a person from leads and submissions, also one who changed, came back or was imported."""

from typing import Any

from shared.wire import new_id
from tests.services.forms.studio_client import StudioClient, field


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
        lead = (await studio.post("/leads", {"email": f"{new_id()}@example.com", "source": source})).json[
            "id"
        ]
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
