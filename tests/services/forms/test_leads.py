"""Leads over HTTP."""

import asyncio

import asyncpg
import pytest

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


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({}, ("body", "email")),
        ({"email": "nobody"}, ("body", "email")),
        ({"email": "a@b.example", "status": "new"}, ("body", "status")),
        ({"email": "a@b.example", "first_name": "x" * 201}, ("body", "first_name")),
        ({"email": "a@b.example", "metadata": []}, ("body", "metadata")),
        (
            {"email": "a@b.example", "metadata": {"form_submissions": 1}},
            ("body", "metadata", "form_submissions"),
        ),
        ({"email": "a@b.example", "metadata": {"x": "y" * 70_000}}, ("body", "metadata")),
    ],
)
async def test_an_invalid_lead_is_refused_with_the_location_of_each_problem(
    studio: StudioClient, body: object, loc: tuple[str, ...]
) -> None:
    """422 and the field; unknown fields are most often misspelt ones."""
    reply = await studio.post("/leads", body)
    assert reply.status == 422
    assert reply.problems[0][0] == loc


async def test_leads_of_another_studio_do_not_exist(studio: StudioClient) -> None:
    """404 for reading and for changing, 400 for a cursor, and an email is taken per studio only."""
    made = (await studio.post("/leads", {"email": "ann@example.com"})).json
    elsewhere = {"studio_id": "11111111-1111-4111-8111-111111111111"}
    assert (await studio.get(f"/leads/{made['id']}", **elsewhere)).status == 404
    assert (await studio.patch(f"/leads/{made['id']}", {"notes": "x"}, **elsewhere)).status == 404
    assert (await studio.get(f"/leads?cursor={made['id']}", **elsewhere)).code == "invalid_cursor"
    assert (await studio.post("/leads", {"email": "ann@example.com"}, **elsewhere)).json["created"] is True


async def test_the_list_continues_after_the_cursor(studio: StudioClient) -> None:
    """Every lead once, oldest first, whatever the page size."""
    made = [(await studio.post("/leads", {"email": f"p{n}@example.com"})).json["id"] for n in range(7)]
    seen: list[str] = []
    query = "limit=3"
    while True:
        page = (await studio.get(f"/leads?{query}")).json
        seen += [lead["id"] for lead in page["data"]]
        if not page["has_more"]:
            break
        query = f"limit=3&cursor={page['next_cursor']}"
    assert seen == made
    assert page["next_cursor"] is None
    assert (await studio.get("/leads?cursor=nonsense")).status == 400
    assert (await studio.get("/leads?limit=201")).status == 422
