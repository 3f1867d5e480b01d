"""`studioctl export`: a studio as import lines. Imported into an empty system it is the same studio."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from services.bookings.store import export_lines as bookings
from services.catalog.store import export_lines as catalog
from services.forms.store import export_lines as forms
from shared.db.database import service_url
from shared.transfer import exporting
from shared.transfer.exporting import ExportQuery
from shared.wire import new_id
from tests.harness.bookable_studio import demo_with_new_ids
from tests.harness.database_layout import opened_database
from tests.harness.databases import connected
from tests.harness.http import created
from tests.harness.system import System, embedded_system
from tests.services.cli.test_studioctl import studioctl

# So far away that no class starts and no waitlist expires while a test runs.
DEMO_DAY = date(2035, 6, 4)
EXPORTED = {"catalog": catalog.SECTIONS, "bookings": bookings.SECTIONS, "forms": forms.SECTIONS}
# Computed from other columns, derived again by the import, or not the studio's own.
LEFT_OUT = {
    # Holds are left out.
    "bookings.bookings": {"location_id", "held_until", "held_by", "only_held"},
    "bookings.classes": {
        "booked_count",
        "waitlist_count",
        "held_count",
        "json_head",
        "json_tail",
        "timezone",
        "start_local",
    },
    "bookings.memberships": {"due_at"},
    "bookings.waitlist": {"imported_as", "location_id"},
    "bookings.studios": {"timezone"},
}
# Internal tables of the catalog, and tables without rows of a studio.
NOT_EXPORTED = {
    "bookings.locations", "bookings.products", "bookings.reschedules", "bookings.idempotency_keys",
    "forms.idempotency_keys", "forms.studios",
}  # fmt: skip
# Not by an import, or only with an event, which would be the event of a row that was written.
WRITTEN_BY_LOOPS = {"outbox", "leases", "lease_replicas", "idempotency_keys", "consumed_events"}


async def a_days_work(system: System) -> str:
    """The demo studio with data that only this system has: credits, charges, a receipt, an erased lead."""
    lines = demo_with_new_ids(DEMO_DAY)
    await system.import_lines(lines)
    studio_id = str(lines[0]["id"])
    partner = system.partner(await system.key(studio=studio_id))
    pack = next(line for line in lines if line["object"] == "product" and line.get("credits_granted"))
    lesson = next(
        line
        for line in lines
        if line["object"] == "class"
        and line["available_count"] > 1
        and line["credit_cost"]
        and line["spot_selection_mode"] != "required"
    )
    for number in range(2):
        fields = {"email": f"m{number}@example.com", "first_name": "M", "last_name": str(number)}
        member = (await partner.create("/members", fields))["id"]
        bought = {"member_id": member, "product_id": pack["id"]}
        await system.operator.create(f"/studios/{studio_id}/purchases", bought)
        booked = created(await partner.book(lesson["id"], member, join_waitlist=True))
    cancelled = await partner.cancel(booked["id"])
    assert cancelled.status == 200, cancelled.body
    lead = await partner.create("/leads", {"email": "gone@example.com"})
    erased = await system.operator.post(f"/leads/{lead['id']}/erase", studio=studio_id)
    assert erased.status == 200, erased.body
    return studio_id


async def fill_waitlists(system: System, studio_id: str) -> None:
    """One by partners, who join and leave; one by a file that leaves gaps between its positions."""
    lesson = {"object": "class", "title": "Flow", "capacity": 1, "allow_waitlist": True}
    lesson |= {"start_time": "2035-06-05T08:00:00Z", "end_time": "2035-06-05T09:00:00Z"}
    joined, filed = lesson | {"id": new_id()}, lesson | {"id": new_id()}
    people = [{"object": "member", "id": new_id(), "first_name": "Ada"} for _ in range(4)]
    pairs = [{"class_id": filed["id"], "member_id": person["id"]} for person in people]
    seat = {"object": "booking", "id": new_id(), "status": "confirmed", **pairs[0]}
    waiting = [{"object": "booking", "id": new_id(), "status": "waitlisted", **pair} for pair in pairs[1:]]
    entries = [
        {"object": "waitlist", "id": new_id(), "status": "waiting", "position": 10 * number, **pair}
        for number, pair in enumerate(pairs[1:], 1)
    ]
    await system.import_lines([joined, filed, *people, seat, *waiting, *entries], studio_id)
    partner = system.partner(await system.key(studio=studio_id))
    booked = [created(await partner.book(joined["id"], one["id"], join_waitlist=True)) for one in people]
    for left in (booked[1], waiting[0]):
        response = await partner.cancel(left["id"])
        assert response.status == 200, response.body


async def rows_of(system: System) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of what an import writes, with where it is and which transaction wrote it."""
    found = {}
    for service in ("gateway", *EXPORTED):
        async with connected(service_url(system.running.database_url(service), service)) as conn:
            tables = await conn.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", service)
            for table in {row["tablename"] for row in tables} - WRITTEN_BY_LOOPS:
                if service != "gateway" or table == "studios":
                    rows = await conn.fetch(f"SELECT ctid, xmin, t.*::text FROM {service}.{table} t")  # noqa: S608
                    found[f"{service}.{table}"] = sorted(map(tuple, rows))
    return found


async def test_an_export_is_the_same_studio_wherever_it_is_imported(
    system: System, database_url: str, tmp_path: Path
) -> None:
    """Credits, charges, receipts, waitlists and versions included; nothing of keys, endpoints or events.

    Where it came from, no row of any kind is written, so no version grows and no event is created.
    """
    studio_id = await a_days_work(system)
    await fill_waitlists(system, studio_id)
    first = await studioctl(system, "export", "--studio", studio_id)
    assert first.code == 0, first.err
    lines = [json.loads(line) for line in first.out.splitlines()]
    assert {line["object"] for line in lines} == {line["object"] for line in demo_with_new_ids(DEMO_DAY)}
    assert any(line.get("cancellation") for line in lines if line["object"] == "booking")
    assert any(line["credits_charged"] for line in lines if line["object"] == "booking")
    assert any(line["credits"] for line in lines if line["object"] == "member")
    before = await rows_of(system)
    await system.import_lines(lines, send_events=True)
    after = await rows_of(system)
    assert {table for table, rows in before.items() if after[table] != rows} == set()
    with embedded_system(tmp_path, database_url) as running:
        async with aiohttp.ClientSession() as session:
            other = System(running, session)
            report = await studioctl(other, "import", "-", stdin=first.out.encode())
            assert report.code == 0, report.err
            again = await studioctl(other, "export", "--studio", studio_id)
    assert again.out == first.out


async def test_a_page_continues_where_the_previous_one_ended(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row is skipped or repeated between two pages, even if timestamps are equal."""
    studio_id = await a_days_work(system)
    async with opened_database(system.running.database_url("bookings"), "bookings") as db:
        whole = await exporting.export_page(db, bookings.SECTIONS, ExportQuery(studio_id=studio_id))
        assert whole.next_cursor is None
        monkeypatch.setattr(exporting, "PAGE_LINES", 7)
        lines, cursor = list[bytes](), None
        while True:
            page = await exporting.export_page(
                db, bookings.SECTIONS, ExportQuery(studio_id=studio_id, cursor=cursor)
            )
            lines += map(bytes, page.lines)
            cursor = page.next_cursor
            if cursor is None:
                break
    assert lines == [bytes(line) for line in whole.lines]
    assert len(lines) > 100


async def test_a_person_gets_what_is_stored_about_them_and_nothing_else(system: System) -> None:
    """The member, what was bought and booked, and by email the lead and the submitted forms."""
    studio_id = await a_days_work(system)
    form = {"object": "form", "id": new_id(), "title": "Trial", "status": "published"}
    responses = {"form_id": form["id"], "submitter_email": "m0@example.com"}
    await system.import_lines(
        [
            form,
            {"object": "form_submission", "id": new_id(), **responses},
            {"object": "form_submission", "id": new_id(), **responses, "submitter_email": "x@example.com"},
            {"object": "lead", "id": new_id(), "email": "m0@example.com"},
        ],
        studio=studio_id,
    )
    done = await studioctl(system, "members", "export", "m0@example.com", "--studio", studio_id)
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in done.out.splitlines()]
    kinds = ["member", "purchase", "class", "booking", "form_submission", "lead"]
    assert [line["object"] for line in lines] == kinds
    assert "m1@example.com" not in done.out
    assert "x@example.com" not in done.out
    unknown = await studioctl(system, "members", "export", new_id(), "--studio", studio_id)
    assert (unknown.code, unknown.out) == (1, "")


async def test_no_column_is_forgotten(database_url: str) -> None:
    """Every column is exported, or listed here as one that the import derives."""
    async with connected(database_url) as conn:
        rows = await conn.fetch(
            "SELECT table_schema || '.' || table_name AS name, column_name FROM information_schema.columns "
            "WHERE table_schema = ANY ($1)",
            list(EXPORTED),
        )
    of_studios = {row["name"] for row in rows if row["column_name"] == "studio_id"}
    of_studios |= {f"{schema}.studios" for schema in EXPORTED}
    for row in rows:
        table, column = row["name"], row["column_name"]
        schema, _, short = table.partition(".")
        if table in NOT_EXPORTED or table not in of_studios or short.startswith("outbox"):
            continue
        statements = " ".join(section.statement for section in EXPORTED[schema])
        assert short in statements, f"{table} is not exported"
        known = {"studio_id", *LEFT_OUT.get(table, ())}
        assert column in known or column in statements, f"{table}.{column} is not exported"
