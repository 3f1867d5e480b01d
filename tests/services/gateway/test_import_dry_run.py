"""`import --dry-run` reports what an import would refuse and stores nothing; references must exist."""

import json
from pathlib import Path
from typing import Any

import pytest

from services.cli import import_file
from services.cli.import_file import import_stream
from services.cli.operator_client import OperatorClient
from shared.wire import new_id, now
from tests.harness import import_lines
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
    return {
        "object": "class",
        "id": new_id(),
        "title": "Flow",
        "start_time": "2035-01-01T08:00:00Z",
        "end_time": "2035-01-01T09:00:00Z",
        "capacity": 5,
        "room_id": room_id,
    } | fields


async def test_a_dry_run_finds_what_an_import_finds_and_stores_nothing(
    system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same lines with the same reasons, even if they refer to each other across requests."""
    monkeypatch.setattr(import_file, "DRY_RUN_CHUNK_LINES", 2)
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
