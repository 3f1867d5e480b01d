"""`import --dry-run` reports what an import would refuse and stores nothing; references must exist."""

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from services.cli import import_file
from services.cli.import_file import import_stream
from services.cli.operator_client import OperatorClient
from shared.db.database import service_url
from shared.transfer.importing import LOCK_STUDIOS
from shared.wire import new_id, now
from tests.harness import import_lines
from tests.harness.databases import connected
from tests.harness.demo import demo_with_new_ids
from tests.harness.system import System

KINDS = ("locations", "rooms", "products", "classes", "members", "leads", "forms")


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    return path


def check(system: System, path: Path, studio: str | None = None, *, dry_run: bool = True) -> dict[str, Any]:
    client = OperatorClient(system.running.operator_url, system.running.operator_token)
    with path.open("rb") as file:
        return import_stream(client, file, studio, size=None, progress=False, dry_run=dry_run)


async def stored(system: System, studio: str | None = None) -> dict[str, int]:
    partner = system.partner(await system.key(studio=studio))
    return {kind: len((await partner.get(f"/{kind}")).json()["data"]) for kind in KINDS}


def a_class(room_id: str | None, **fields: Any) -> dict[str, Any]:
    return import_lines.class_(room_id=room_id, capacity=5, **fields)


async def test_a_dry_run_finds_what_an_import_finds_and_stores_nothing(
    system: System, tmp_path: Path
) -> None:
    """The same lines with the same reasons."""
    place, spare = import_lines.location(), import_lines.room(new_id())
    room = import_lines.room(place["id"])
    ada = {"object": "member", "id": new_id(), "first_name": "Ada", "email": "ada@example.com"}
    lesson = a_class(room["id"], location_id=place["id"])
    booking = {"object": "booking", "id": new_id(), "class_id": lesson["id"], "member_id": ada["id"]}
    lines = [
        place,
        room,
        spare,
        ada,
        lesson,
        a_class(spare["id"]),
        booking | {"status": "confirmed"},
        ada | {"id": new_id(), "email": "ADA@example.com"},
        booking | {"status": "confirmed", "member_id": new_id(), "id": new_id()},
        booking | {"status": "confirmed", "id": new_id()},
        import_lines.location(timezone="Mars/Olympus"),
    ]
    path = write(tmp_path / "file.ndjson", lines)
    before = await stored(system)
    told = check(system, path, system.studio_id)
    assert await stored(system) == before
    assert (told["imported"], told["valid"]) == (0, 5)
    real = check(system, path, system.studio_id, dry_run=False)
    assert told["rejected"] == real["rejected"]
    assert [row["line"] for row in real["rejected"]] == [3, 6, 8, 9, 10, 11]


async def test_a_line_of_a_dry_run_may_refer_to_lines_of_earlier_requests(
    system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their ids, in all services; but not to a line that was rejected."""
    monkeypatch.setattr(import_file, "DRY_RUN_CHUNK_LINES", 1)
    place, person, form = import_lines.location(), {"object": "member", "id": new_id()}, new_id()
    lesson, product = a_class(None, location_id=place["id"]), import_lines.product()
    pair = {"class_id": lesson["id"], "member_id": person["id"]}
    spot = {"object": "class_spot", "id": new_id(), "class_id": lesson["id"], "label": "A"}
    seat = {"object": "booking", "id": new_id(), **pair, "class_spot_id": spot["id"], "status": "confirmed"}
    card = {"object": "membership", "id": new_id(), "member_id": person["id"], "status": "active"}
    answers = {"object": "form_submission", "form_id": form, "submitter_email": "ada@example.com"}
    good = [
        place,
        import_lines.room(place["id"]),
        person,
        lesson,
        spot,
        seat,
        {"object": "waitlist", "id": new_id(), **pair, "booking_id": seat["id"], "position": 1}
        | {"status": "converted"},
        product,
        card | {"product_id": product["id"]},
        {"object": "form", "id": form, "title": "Trial"},
        answers | {"id": new_id()},
    ]
    refused = a_class(new_id())
    bad = [refused, seat | {"id": new_id(), "class_id": refused["id"]}]
    told = check(system, write(tmp_path / "file.ndjson", good + bad), system.studio_id)
    assert [row["line"] for row in told["rejected"]] == [len(good) + 1, len(good) + 2], told
    assert told["valid"] == len(good)


async def test_a_dry_run_waits_for_no_lock(system: System) -> None:
    """Not for one of a row that it would change, nor for that of another import."""
    place, product = import_lines.location(), import_lines.product()
    form = {"object": "form", "id": new_id(), "title": "Trial"}
    lead = {"object": "lead", "id": new_id(), "email": "ada@example.com"}
    await system.import_lines([place, product, form, lead])
    changed = [
        place | {"name": "Other"},
        product | {"name": "Other"},
        form | {"title": "Other"},
        lead | {"first_name": "Ada"},
    ]
    raw = b"\n".join(json.dumps(line).encode() for line in changed)
    async with AsyncExitStack() as held:
        for service, tables in (("catalog", ("locations", "products")), ("forms", ("forms", "leads"))):
            url = service_url(system.running.database_url(service), service)
            conn = await held.enter_async_context(connected(url))
            await held.enter_async_context(conn.transaction())
            for table in tables:
                await conn.execute(f"SELECT FROM {table} FOR UPDATE")
            # Where the services share a database, the first of them has the lock of both.
            await conn.execute(LOCK_STUDIOS.replace("advisory", "try_advisory"), [system.studio_id])
        async with asyncio.timeout(10):
            answer = await system.operator.post("/import", raw=raw, studio=system.studio_id, dry_run="true")
        assert (answer.json()["imported"], answer.json()["rejected"]) == (len(changed), [])


async def test_a_dry_run_takes_the_demo_studio_whole_before_it_exists(
    system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every kind, in requests that are smaller than the studio."""
    monkeypatch.setattr(import_file, "DRY_RUN_CHUNK_LINES", 150)
    lines = demo_with_new_ids(now().date())
    slug = lines[0]["slug"]
    told = check(system, write(tmp_path / "demo.ndjson", lines))
    assert (told["rejected"], told["valid"]) == ([], len(lines))
    assert slug not in (await system.operator.get("/studios")).body.decode()


@pytest.mark.parametrize(
    "line",
    [
        a_class(new_id()),
        a_class(None, instructor_id=new_id()),
        a_class(None, class_type_id=new_id()),
        a_class(None, location_id=new_id()),
        {"object": "membership", "id": new_id(), "product_id": new_id(), "status": "active"},
        {"object": "purchase", "id": new_id(), "product_id": new_id(), "product_key": "k"},
    ],
    ids=["room", "instructor", "class type", "location", "membership", "purchase"],
)
async def test_a_line_that_names_what_is_not_there_is_rejected(system: System, line: dict[str, Any]) -> None:
    """Across services too, reported once; a resource of another studio does not exist either."""
    member = {"object": "member", "id": new_id(), "first_name": "Ada"}
    if line["object"] != "class":
        line = line | {"member_id": member["id"], "product_type": "package"}
        line.pop("product_type" if line["object"] == "membership" else "", None)
    field = next(name for name in line if name.endswith("_id") and name != "member_id" and line[name])
    raw = b"\n".join(json.dumps(one).encode() for one in (member, line))
    for dry_run in ("true", "false"):
        answer = await system.operator.post("/import", raw=raw, studio=system.studio_id, dry_run=dry_run)
        (bad,) = answer.json()["rejected"]
        assert bad["line"] == 2
        assert bad["reason"].startswith(f"{field} names {line[field]}, which is not among the studio's ")
    assert (await stored(system))["classes"] == 0


async def test_a_dry_run_that_is_misspelt_is_refused(system: System) -> None:
    """It must never turn into a real import."""
    raw = json.dumps(import_lines.location()).encode()
    answer = await system.operator.post("/import", raw=raw, studio=system.studio_id, dry_run="1")
    assert answer.status == 422
    assert (await stored(system))["locations"] == 0
