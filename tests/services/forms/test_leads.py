"""Leads over HTTP: identifying one, what that fills in, and changes."""

import asyncio
from typing import Any

import asyncpg

from services.forms.store import leads
from shared.http.caller import Caller
from shared.wire import new_id
from tests.services.forms.studio_client import StudioClient


async def test_without_the_constraint_a_race_makes_two_leads(studio: StudioClient, database_url: str) -> None:
    """The control of the race in end_to_end/test_forms_and_leads.py: looking first lets both through."""
    admin = await asyncpg.connect(database_url)
    await admin.execute("ALTER TABLE forms.leads DROP CONSTRAINT leads_one_per_email")
    await admin.close()
    caller = Caller(studio_id=studio.id)

    both_looked = asyncio.Barrier(2)

    async def look_then_insert() -> None:
        async with studio.service.context.db.transaction() as conn:
            if await leads.id_of(conn, caller, "ann@example.com") is None:
                await both_looked.wait()
                await conn.execute(
                    "INSERT INTO leads (studio_id, id, email, status) VALUES ($1, $2, $3, 'new')",
                    studio.id,
                    new_id(),
                    "ann@example.com",
                )

    await asyncio.gather(look_then_insert(), look_then_insert())
    assert len((await studio.get("/leads")).json["data"]) == 2


async def test_an_existing_lead_gets_its_blanks_filled_and_nothing_else(studio: StudioClient) -> None:
    """201 with `created: false`; what is there stays, the status never goes back."""
    first = await studio.post("/leads", {"email": "ann@example.com", "metadata": {"a": 1}})
    lead_id = first.json["id"]
    await studio.patch(f"/leads/{lead_id}", {"status": "qualified"})
    body = {
        "email": " ANN@example.com ",
        "first_name": "Ann",
        "source": "waitlist",
        "metadata": {"a": 2, "b": 3},
        "utm_source": "insta",
    }
    again = await studio.post("/leads", body)
    assert (again.status, again.json) == (201, {"id": lead_id, "object": "lead", "created": False})
    lead = (await studio.get(f"/leads/{lead_id}")).json
    assert (lead["first_name"], lead["source"], lead["status"]) == ("Ann", "partner_api", "qualified")
    assert lead["metadata"] == {"a": 1, "b": 3, "utm_source": "insta"}
    kinds = [(event["type"], event["resource"]["version"]) for event in await studio.recorder.first(3)]
    assert kinds == [("lead.created", 1), ("lead.updated", 2), ("lead.updated", 3)]


async def test_a_lead_is_shown_with_every_field_and_without_what_is_write_only(studio: StudioClient) -> None:
    """Phone and notes are written by partners and read by staff alone."""
    made = await studio.post("/leads", {"email": "ann@bücher.example"})
    path = f"/leads/{made.json['id']}"
    change = {"last_name": "Lee", "phone": "+44 20 7946 0018", "notes": "Call after six."}
    assert (await studio.post(f"{path}/update", change)).json == {**made.json, "created": False}
    lead = (await studio.get(path)).json
    assert lead.pop("created_at").endswith("Z")
    assert lead == {
        "id": made.json["id"],
        "object": "lead",
        "email": "ann@xn--bcher-kva.example",
        "first_name": "",
        "source": "partner_api",
        "status": "new",
        "lifecycle_stage": "lead",
        "metadata": {},
    }
    staff = (await studio.get(f"/staff{path}", actor="operator")).json
    assert (staff["notes"], staff["phone"], staff["last_name"]) == (
        "Call after six.",
        "+44 20 7946 0018",
        "Lee",
    )
    assert staff["version"] == 2
    assert (await studio.get(f"/staff{path}")).status == 404


async def test_an_invalid_lead_is_refused_with_the_location_of_each_problem(studio: StudioClient) -> None:
    """422 and the field; in an update, before anything is looked up."""
    lead, path = {"email": "a@b.example"}, f"/leads/{studio.id}"
    for reply, name in (
        (await studio.post("/leads", lead | {"status": "new"}), "status"),
        (await studio.post("/leads", lead | {"first_name": "x" * 201}), "first_name"),
        (await studio.post("/leads", lead | {"metadata": []}), "metadata"),
        (await studio.patch(path, {"notes": "x" * 5_001}), "notes"),
        (await studio.patch(path, {"nickname": "x"}), "nickname"),
    ):
        assert (reply.status, reply.problems[0][0]) == (422, ("body", name))
    assert (await studio.patch(path, {"first_name": "x"})).status == 404


async def test_the_list_continues_after_a_cursor_of_this_studio_only(studio: StudioClient) -> None:
    """Oldest first. In another studio the email is free as well."""
    made = [(await studio.post("/leads", {"email": f"p{n}@example.com"})).json["id"] for n in range(7)]
    page = (await studio.get("/leads?limit=3")).json
    after = f"/leads?cursor={page['next_cursor']}"
    assert [lead["id"] for lead in page["data"] + (await studio.get(after)).json["data"]] == made
    elsewhere = {"studio_id": "11111111-1111-4111-8111-111111111111"}
    assert (await studio.get(after, **elsewhere)).code == "invalid_cursor"
    assert (await studio.post("/leads", {"email": "p1@example.com"}, **elsewhere)).json["created"] is True


async def test_an_empty_text_and_null_are_blanks_too(studio: StudioClient) -> None:
    """In first name, source and at the top of metadata; a default source fills nothing."""
    lead = {"object": "lead", "id": new_id(), "email": "ann@example.com", "source": None}
    await studio.import_lines(lead | {"metadata": {"a": None, "b": "", "c": 0, "d": {"e": ""}, "f": False}})
    path = f"/leads/{lead['id']}"
    await studio.post("/leads", {"email": "ann@example.com"})
    assert (await studio.get(path)).json["source"] is None
    await studio.post("/leads", {"email": "ann@example.com", "source": "", "metadata": {"a": "", "g": None}})
    shown = (await studio.get(path)).json
    assert (shown["source"], shown["metadata"]["a"], shown["metadata"]["g"]) == (None, None, None)
    given = {"a": 1, "b": [2], "c": 3, "d": {"e": 4}, "f": True, "g": "x"}
    await studio.post("/leads", {"email": "ann@example.com", "source": "waitlist", "metadata": given})
    shown = (await studio.get(path)).json
    assert shown["source"] == "waitlist"
    assert shown["metadata"] == {"a": 1, "b": [2], "c": 0, "d": {"e": ""}, "f": False, "g": "x"}
    await studio.import_lines(lead | {"source": ""})
    await studio.post("/leads", {"email": "ann@example.com", "source": "waitlist"})
    assert (await studio.get(path)).json["source"] == "waitlist"


async def test_a_lead_whose_metadata_is_full_is_identified_all_the_same(studio: StudioClient) -> None:
    """201 with `created: false`; the metadata stays as it was, other blanks are filled."""
    full = {"x": "y" * 65_000}
    made = await studio.post("/leads", {"email": "ann@example.com", "metadata": full})
    more = {"email": "ann@example.com", "first_name": "Ann", "metadata": {"z": "y" * 1_000}}
    again = await studio.post("/leads", more)
    assert (again.status, again.json) == (201, {**made.json, "created": False})
    shown = (await studio.get(f"/leads/{made.json['id']}")).json
    assert (shown["first_name"], shown["metadata"]) == ("Ann", full)
    assert (await studio.patch(f"/leads/{made.json['id']}", {"metadata": more["metadata"]})).status == 422


async def test_form_context_counts_except_for_the_servers_own_entries(studio: StudioClient) -> None:
    """The list cannot bypass the limit, and what was read can be sent back and imported again."""
    for entry in ("y" * 70_000, {"form_slug": "y" * 70_000}, [["y" * 70_000]]):
        body = {"email": "bob@example.com", "metadata": {"form_submissions": [entry]}}
        refused = await studio.post("/leads", body)
        assert refused.problems == [(("body", "metadata"), "too_large")]
    form = await studio.form()
    made = await studio.post("/leads", {"email": "ann@example.com", "metadata": {"x": "y" * 65_500}})
    for _ in range(3):
        await studio.submit(form, {})
    lead = (await studio.get(f"/leads/{made.json['id']}")).json
    assert len(lead["metadata"]["form_submissions"]) == 3
    sent = {"metadata": lead["metadata"]}
    assert (await studio.patch(f"/leads/{lead['id']}", sent)).status == 200
    assert (await studio.import_lines(lead))["rejected"] == []
    lead["metadata"]["form_submissions"][0]["note"] = "mine"
    assert (await studio.patch(f"/leads/{lead['id']}", sent)).status == 422


async def test_absent_is_not_null(studio: StudioClient) -> None:
    """What is left out stays; null empties where null is allowed and is refused elsewhere."""
    made = await studio.post("/leads", {"email": "ann@example.com", "first_name": "Ann"})
    path = f"/leads/{made.json['id']}"
    await studio.patch(path, {"phone": "+442079460018", "notes": "n"})
    assert (await studio.patch(path, {"phone": None})).status == 200
    staff = (await studio.get(f"/staff{path}", actor="operator")).json
    assert (staff["phone"], staff["notes"], staff["first_name"]) == (None, "n", "Ann")
    for body in ({"first_name": None}, {"email": None}, {"status": None}, {"metadata": None}):
        assert (await studio.patch(path, body)).status == 422


async def test_metadata_is_a_merge_patch_and_keeps_its_digits(studio: StudioClient) -> None:
    """RFC 7386: null removes, objects merge; numbers come back as they were written."""
    made = await studio.post(
        "/leads",
        b'{"email":"a@b.example","metadata":{"keep":1.10,"big":123456789012345678901234567890,"o":{"x":1}}}',
    )
    path = f"/leads/{made.json['id']}"
    await studio.patch(path, {"metadata": {"o": {"y": True, "x": None}, "t": "é"}})
    reply = await studio.get(path)
    assert (
        b'"metadata":{"keep":1.10,"big":123456789012345678901234567890,"o":{"y":true},"t":"\xc3\xa9"}'
        in reply.body
    )
    await studio.patch(path, {"metadata": {"o": {"y": 1}}})
    assert (await studio.get(path)).json["metadata"]["o"] == {"y": 1}


async def test_a_change_that_changes_nothing_sends_no_event(studio: StudioClient) -> None:
    """The version grows with each change, and only with a change."""
    made = await studio.post("/leads", {"email": "ann@example.com", "metadata": {"a": {"b": 1}}})
    path = f"/leads/{made.json['id']}"
    same: dict[str, Any] = {"status": "new", "email": "ANN@example.com"}
    for body in ({}, same, {"metadata": {"a": {"b": 1}, "gone": None}}):
        assert (await studio.patch(path, body)).status == 200
    assert (await studio.get(f"/staff{path}", actor="operator")).json["version"] == 1


async def test_states_go_forward(studio: StudioClient) -> None:
    """Steps may be skipped. 409 `invalid_state_transition` with from, to and allowed."""
    made = await studio.post("/leads", {"email": "ann@example.com"})
    path = f"/leads/{made.json['id']}"
    assert (await studio.patch(path, {"status": "converted"})).status == 200
    refused = await studio.patch(path, {"status": "new", "first_name": "Never"})
    assert (refused.status, refused.code) == (409, "invalid_state_transition")
    assert refused.json["error"]["details"] == {"from": "converted", "to": "new", "allowed": ["unqualified"]}
    assert (await studio.get(path)).json["first_name"] == ""
    for status, refused_with in (
        ("unqualified", "converted"),
        ("contacted", "new"),
        ("qualified", "contacted"),
    ):
        assert (await studio.patch(path, {"status": status})).status == 200
        assert (await studio.patch(path, {"status": refused_with})).code == "invalid_state_transition"
    assert (await studio.patch(path, {"status": "sold"})).problems == [(("body", "status"), "enum")]


async def test_an_email_of_another_lead_is_refused(studio: StudioClient) -> None:
    """409 `lead_exists` names the other lead; a new email is normalized."""
    ann = (await studio.post("/leads", {"email": "ann@example.com"})).json["id"]
    bob = (await studio.post("/leads", {"email": "bob@example.com"})).json["id"]
    refused = await studio.patch(f"/leads/{bob}", {"email": "Ann@Example.com"})
    assert (refused.status, refused.code) == (409, "lead_exists")
    assert refused.json["error"]["details"] == {"lead_id": ann}
    assert (await studio.patch(f"/leads/{bob}", {"email": "Rob@Example.com"})).status == 200
    assert (await studio.get(f"/leads/{bob}")).json["email"] == "rob@example.com"
