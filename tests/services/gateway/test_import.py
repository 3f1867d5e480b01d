"""The import: streams, batches, upserts, reports bad lines without losing good ones; and its dry run."""

import asyncio
import json
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from services.cli import import_file
from services.cli.import_file import import_stream
from services.cli.operator_client import OperatorClient
from services.gateway.actions.import_lines import OWNERS
from services.gateway.routes.operator.transfer import MAX_LINE_BYTES, lines_of
from shared.db.database import service_url
from shared.transfer.importing import LOCK_STUDIOS
from shared.wire import new_id, now
from tests.harness import import_lines
from tests.harness.bookable_studio import demo_with_new_ids
from tests.harness.databases import connected
from tests.harness.http import Client
from tests.harness.system import System


def ndjson(*lines: dict[str, Any] | bytes) -> bytes:
    return b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)


def check(system: System, path: Path, studio: str | None = None, *, dry_run: bool = True) -> dict[str, Any]:
    client = OperatorClient(system.running.operator_url, system.running.operator_token)
    with path.open("rb") as file:
        return import_stream(client, file, studio, size=None, progress=False, dry_run=dry_run)


async def test_bad_lines_are_named_and_good_ones_kept(system: System) -> None:
    """Each bad line by number and reason: broken JSON, unknown kinds, wrong types, dangling references."""
    good = import_lines.location()
    bad_room = import_lines.room(new_id())
    raw = ndjson(
        good,
        b"{broken",
        b"",
        {"object": "spaceship", "id": new_id()},
        import_lines.location(timezone="Mars/Olympus"),
        import_lines.location(nmae="misspelt"),
        bad_room,
        import_lines.room(good["id"], capacity=-1),
        import_lines.class_type(name="a\u0000b"),
        import_lines.product(prices=[import_lines.price(amount="NaN")]),
        import_lines.room(good["id"]),
        import_lines.class_type(created_at="0001-01-01T00:00:00+14:00"),
        import_lines.room(good["id"], created_at="9999-12-31T23:59:59-14:00"),
    )
    report = await system.try_import(raw)
    reasons = {row["line"]: row["reason"] for row in report["rejected"]}
    assert sorted(reasons) == [2, 4, 5, 6, 7, 8, 9, 10, 12, 13]
    assert "1970" in reasons[12] and "1970" in reasons[13]
    assert report["imported"] == 2
    assert "spaceship" in reasons[4] and all(kind in reasons[4] for kind in OWNERS), (
        "the known ones are listed"
    )
    assert "Mars/Olympus" in reasons[5]
    assert "nmae" in reasons[6]
    assert bad_room["location_id"] in reasons[7]
    client = system.partner(await system.key())
    assert len((await client.get("/rooms")).json()["data"]) == 1


async def test_a_line_of_an_unknown_studio_is_rejected(system: System) -> None:
    """Without a studio for the whole import, every line needs one that exists."""
    other = await system.new_studio()
    mine, theirs = import_lines.location(studio_id=system.studio_id), import_lines.location(studio_id=other)
    lost = import_lines.location(studio_id=new_id())
    raw = ndjson(mine, theirs, lost, import_lines.location())
    response = await system.operator.post("/import", raw=raw)
    assert [row["line"] for row in response.json()["rejected"]] == [3, 4]
    client = system.partner(await system.key(studio=other))
    assert [row["id"] for row in (await client.get("/locations")).json()["data"]] == [theirs["id"]]


async def test_an_import_for_one_studio_writes_into_no_other(system: System) -> None:
    """A line of another studio is reported by number; the lines of this one are stored.

    A file may create the studio that `--studio` names, but not by renaming another one.
    """
    mine = system.studio_id
    slug = (await system.operator.get(f"/studios/{mine}")).json()["slug"]
    other = await system.new_studio()
    before = (await system.operator.get(f"/studios/{other}")).json()
    fields = {"object": "studio", "name": "Taken over", "timezone": "UTC"}
    raw = ndjson(
        import_lines.location(studio_id=other),
        import_lines.location(studio_id=before["slug"]),
        fields | {"id": other, "slug": before["slug"]},
        fields | {"id": new_id(), "slug": f"s-{new_id()[:8]}"},
        import_lines.location(studio_id=mine),
        import_lines.location(),
    )
    for named in (mine, mine.upper(), slug):
        report = await system.try_import(raw, studio=named)
        assert [row["line"] for row in report["rejected"]] == [1, 2, 3, 4]
        assert all("but the import is for" in row["reason"] for row in report["rejected"])
    slug = f"s-{new_id()[:8]}"
    report = await system.try_import(ndjson(fields | {"id": other, "slug": slug}), studio=slug)
    assert [row["line"] for row in report["rejected"]] == [1]
    assert (await system.operator.get(f"/studios/{other}")).json() == before
    client = system.partner(await system.key(studio=other))
    assert (await client.get("/locations")).json()["data"] == []


async def test_a_rejected_studio_line_changes_nothing_anywhere(system: System, partner: Client) -> None:
    """It goes to several services: none stores a line that another one would refuse."""
    line = {"object": "studio", "id": system.studio_id, "name": "Changed", "slug": f"s-{new_id()[:8]}"}
    path = f"/studios/{system.studio_id}"
    before = [(await system.operator.get(path)).body, (await partner.get("/studio")).body]
    faults: list[dict[str, Any]] = [
        {"timezone": "Mars/Base"},
        {"name": 5},
        {"nmae": "x"},
        {"late_window_minutes": "abc"},
        {"slug": "UPPER"},
        {"slug": "newline-after\n"},
        {"late_fee_amount": "15", "late_fee_currency": "USD\n"},
        {"late_fee_amount": "15"},
    ]
    for fault in faults:
        report = await system.try_import(ndjson(line | fault))
        assert [row["line"] for row in report["rejected"]] == [1], fault
        assert [(await system.operator.get(path)).body, (await partner.get("/studio")).body] == before, fault


NO_ZONES = ("Factory", "localtime", "posixrules", "posix/UTC", "right/UTC", "Mars/Base", "utc", "", "../UTC")
LINKS = ("UTC", "US/Central", "Etc/GMT+5", "EST5EDT", "America/Argentina/Ushuaia")


async def test_a_time_zone_is_a_place_s(system: System) -> None:
    """Some machines keep other names beside the zones. What they mean is not the same everywhere.

    A link is a zone too, and kept as it was written.
    """
    studio = {"name": "Here", "slug": f"s-{new_id()}"}
    for name in NO_ZONES:
        refused = await system.operator.post("/studios", studio | {"timezone": name})
        assert (refused.status, refused.code) == (422, "validation_failed")
        assert repr(name) in refused.json()["error"]["message"]
        line = {"object": "studio", "id": system.studio_id, "timezone": name}
        report = await system.try_import(ndjson(studio | line, import_lines.location(timezone=name)))
        reasons = [row["reason"] for row in report["rejected"]]
        assert reasons == [f"timezone {name!r} is not an IANA time zone."] * 2
    for name in LINKS:
        made = await system.operator.create("/studios", studio | {"slug": f"s-{new_id()}", "timezone": name})
        assert made["timezone"] == name
        report = await system.try_import(ndjson(import_lines.location(timezone=name)))
        assert report["rejected"] == []


async def test_a_file_may_bring_its_own_studio(system: System) -> None:
    """Its lines may name the studio by the slug that its first line gives it, and may come in any order.

    A BOM does no harm.
    """
    studio = {"object": "studio", "id": new_id(), "name": "New", "timezone": "UTC", "slug": f"s-{new_id()}"}
    place = import_lines.location()
    lines = ndjson(studio, import_lines.room(place["id"]), place).replace(b"\n", b"\r\n")
    report = await system.try_import(b"\xef\xbb\xbf" + lines, studio=str(studio["slug"]))
    assert (report["imported"], report["rejected"]) == (3, [])


async def test_a_line_that_is_not_one_object_is_its_own_problem(system: System) -> None:
    """Two objects on a line, or one that is nested deeply: it is reported, the others are stored."""
    one, two, deep = (ndjson(import_lines.class_type(name=name)) for name in ("one", "two", "deep"))
    bad = [one + b"," + two, one + b"],[" + two]
    bad += [deep.replace(b'"deep"', b"[" * depth + b"]" * depth) for depth in range(970, 1000, 3)]
    for line in bad:
        report = await system.try_import(ndjson(line, import_lines.class_type()))
        assert ([row["line"] for row in report["rejected"]], report["imported"]) == ([1], 1)


async def test_a_file_is_sent_in_pieces_with_the_files_own_line_numbers(
    system: System, tmp_path: Path
) -> None:
    """Three chunks through studioctl's own sender: line 12,345 is broken and is the only one reported.

    Most lines are empty, which count but cost nothing. The soak sends a million full ones.
    """
    path = tmp_path / "types.ndjson"
    with path.open("w") as file:
        for number in range(1, 13_001):
            full = json.dumps(import_lines.class_type()) if number % 100 == 0 else ""
            file.write("{broken\n" if number == 12_345 else f"{full}\n")
    report = check(system, path, system.studio_id, dry_run=False)
    assert (report["lines"], report["imported"], report["rejected_count"]) == (13_000, 130, 1)
    assert report["rejected"][0]["line"] == 12_345


async def pieces_of(body: bytes, size: int) -> tuple[list[bytes | None], float]:
    """The lines of a body that arrives in pieces of this size, and the CPU time."""
    pieces = iter([body[at : at + size] for at in range(0, len(body), size)])

    async def receive() -> Any:
        piece = next(pieces, None)
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    started = time.process_time()
    lines = [line async for line in lines_of(receive)]
    return lines, time.process_time() - started


async def test_a_long_line_that_arrives_in_small_pieces_costs_its_size() -> None:
    """4 MB in pieces of 1 KB cost about four times as much as 1 MB. Joining each piece took 13 s."""
    lines, quarter = await pieces_of(b"x" * 2**20 + b"\n", 1024)
    assert [len(line or b"") for line in lines] == [2**20]
    lines, whole = await pieces_of(b"x" * 2**22 + b"\nnext\n\n\nlast", 1024)
    assert [len(line or b"") for line in lines] == [2**22, 4, 0, 0, 4]
    assert whole < 8 * quarter + 1.0


async def test_a_line_over_the_limit_is_skipped_and_the_next_one_read() -> None:
    """Whether it ends in a later piece, in the same one, or not at all."""
    too_long = b"x" * (MAX_LINE_BYTES + 1)
    for size in (2**16, 2 * MAX_LINE_BYTES):
        lines, _ = await pieces_of(too_long + b"\ngood\n" + too_long, size)
        assert lines == [None, b"good", None]


KINDS = ("locations", "rooms", "products", "classes", "members", "leads", "forms")


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_bytes(ndjson(*lines))
    return path


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
    """The demo studio, of every kind and before it exists, in requests that are smaller than it.

    A line may not refer to one that was rejected.
    """
    monkeypatch.setattr(import_file, "DRY_RUN_CHUNK_LINES", 10)
    lines = demo_with_new_ids(now().date())
    lesson = next(line for line in lines if line["object"] == "class")
    seat = next(line for line in lines if line["object"] == "booking")
    refused = lesson | {"id": new_id(), "room_id": new_id()}
    bad = [refused, seat | {"id": new_id(), "class_id": refused["id"]}]
    told = check(system, write(tmp_path / "demo.ndjson", lines + bad))
    assert [row["line"] for row in told["rejected"]] == [len(lines) + 1, len(lines) + 2], told
    assert told["valid"] == len(lines)
    assert lines[0]["slug"] not in (await system.operator.get("/studios")).body.decode()


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
    raw = ndjson(*changed)
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
            response = await system.operator.post("/import", raw=raw, studio=system.studio_id, dry_run="true")
        assert (response.json()["imported"], response.json()["rejected"]) == (len(changed), [])


async def test_a_line_that_names_what_is_not_there_is_rejected(system: System) -> None:
    """Across services too, reported once; a resource of another studio does not exist either."""
    member = {"object": "member", "id": new_id(), "first_name": "Ada"}
    bought = {"id": new_id(), "member_id": member["id"], "product_id": new_id()}
    cases = [
        ("room_id", a_class(new_id())),
        ("instructor_id", a_class(None, instructor_id=new_id())),
        ("class_type_id", a_class(None, class_type_id=new_id())),
        ("location_id", a_class(None, location_id=new_id())),
        ("product_id", bought | {"object": "membership", "status": "active"}),
        ("product_id", bought | {"object": "purchase", "product_key": "k", "product_type": "package"}),
    ]
    raw = ndjson(member, *(line for _, line in cases))
    for dry_run in ("true", "false"):
        response = await system.operator.post("/import", raw=raw, studio=system.studio_id, dry_run=dry_run)
        rejected = response.json()["rejected"]
        assert [bad["line"] for bad in rejected] == [2, 3, 4, 5, 6, 7]
        for bad, (field, line) in zip(rejected, cases, strict=True):
            assert bad["reason"].startswith(f"{field} names {line[field]}, which is not among the studio's ")
    assert (await stored(system))["classes"] == 0


async def test_a_dry_run_that_is_misspelt_is_refused(system: System) -> None:
    """It must never turn into a real import."""
    raw = json.dumps(import_lines.location()).encode()
    response = await system.operator.post("/import", raw=raw, studio=system.studio_id, dry_run="1")
    assert response.status == 422
    assert (await stored(system))["locations"] == 0
