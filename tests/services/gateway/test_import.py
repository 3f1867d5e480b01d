"""The import: streams, batches, upserts, and reports bad lines without losing good ones."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from services.cli.import_file import import_stream
from services.cli.operator_client import OperatorClient
from services.gateway.routes.operator.transfer import MAX_LINE_BYTES, lines_of
from shared.wire import new_id
from tests.harness import import_lines
from tests.harness.system import System


async def test_bad_lines_are_named_and_good_ones_kept(system: System) -> None:
    """Each bad line by number and reason: broken JSON, unknown kinds, wrong types, dangling references."""
    good = import_lines.location()
    bad_room = import_lines.room(new_id())
    raw = [
        json.dumps(good).encode(),
        b"{broken",
        b"",
        json.dumps({"object": "spaceship", "id": new_id()}).encode(),
        json.dumps(import_lines.location(timezone="Mars/Olympus")).encode(),
        json.dumps(import_lines.location(nmae="misspelt")).encode(),
        json.dumps(bad_room).encode(),
        json.dumps(import_lines.room(good["id"], capacity=-1)).encode(),
        json.dumps(import_lines.class_type(name="a\u0000b")).encode(),
        json.dumps(import_lines.product(prices=[import_lines.price(amount="NaN")])).encode(),
        json.dumps(import_lines.room(good["id"])).encode(),
        json.dumps(import_lines.class_type(created_at="0001-01-01T00:00:00+14:00")).encode(),
        json.dumps(import_lines.room(good["id"], created_at="9999-12-31T23:59:59-14:00")).encode(),
    ]
    report = await system.try_import(b"\n".join(raw))
    reasons = {row["line"]: row["reason"] for row in report["rejected"]}
    assert sorted(reasons) == [2, 4, 5, 6, 7, 8, 9, 10, 12, 13]
    assert "1970" in reasons[12] and "1970" in reasons[13]
    assert report["imported"] == 2
    assert "spaceship" in reasons[4]
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
    raw = b"\n".join(json.dumps(line).encode() for line in (mine, theirs, lost, import_lines.location()))
    answer = await system.operator.post("/import", raw=raw)
    assert [row["line"] for row in answer.json()["rejected"]] == [3, 4]
    client = system.partner(await system.key(studio=other))
    assert [row["id"] for row in (await client.get("/locations")).json()["data"]] == [theirs["id"]]


async def test_an_import_for_one_studio_writes_into_no_other(system: System) -> None:
    """A line of another studio is reported by number; the lines of this one are stored."""
    mine = system.studio_id
    slug = (await system.operator.get(f"/studios/{mine}")).json()["slug"]
    other = await system.new_studio()
    before = (await system.operator.get(f"/studios/{other}")).json()
    fields = {"object": "studio", "name": "Taken over", "timezone": "UTC"}
    raw = [
        import_lines.location(studio_id=other),
        import_lines.location(studio_id=before["slug"]),
        fields | {"id": other, "slug": before["slug"]},
        fields | {"id": new_id(), "slug": f"s-{new_id()[:8]}"},
        import_lines.location(studio_id=mine),
        import_lines.location(),
    ]
    for named in (mine, mine.upper(), slug):
        report = await system.try_import(b"\n".join(json.dumps(line).encode() for line in raw), studio=named)
        assert [row["line"] for row in report["rejected"]] == [1, 2, 3, 4]
        assert all("but the import is for" in row["reason"] for row in report["rejected"])
    assert (await system.operator.get(f"/studios/{other}")).json() == before
    client = system.partner(await system.key(studio=other))
    assert (await client.get("/locations")).json()["data"] == []


async def test_a_new_studios_import_cannot_take_over_an_existing_studio(system: System) -> None:
    """The file may create the studio that `--studio` names, but not by renaming another one."""
    other = await system.new_studio()
    before = (await system.operator.get(f"/studios/{other}")).json()
    slug = f"s-{new_id()[:8]}"
    line = {"object": "studio", "id": other, "slug": slug, "name": "Taken over", "timezone": "UTC"}
    report = await system.try_import(json.dumps(line).encode(), studio=slug)
    assert [row["line"] for row in report["rejected"]] == [1]
    assert (await system.operator.get(f"/studios/{other}")).json() == before


@pytest.mark.parametrize("between", [b",", b"],["], ids=["two objects", "two lists"])
async def test_two_objects_on_one_line_are_its_own_problem(system: System, between: bytes) -> None:
    """The line is reported, and the others of its batch are stored."""
    one, two, good = (json.dumps(import_lines.class_type()).encode() for _ in range(3))
    report = await system.try_import(b"\n".join([one + between + two, good]))
    assert [row["line"] for row in report["rejected"]] == [1]
    assert report["imported"] == 1


@pytest.mark.parametrize(
    "fault",
    [
        {"timezone": "Mars/Base"},
        {"name": 5},
        {"nmae": "x"},
        {"late_window_minutes": "abc"},
        {"slug": "UPPER"},
        {"slug": "newline-after\n"},
        {"late_fee_amount": "15", "late_fee_currency": "USD\n"},
        {"late_fee_amount": "15"},
    ],
)
async def test_a_rejected_studio_line_changes_nothing_anywhere(system: System, fault: dict[str, Any]) -> None:
    """It goes to several services: none stores a line that another one would refuse."""
    line = {"object": "studio", "id": system.studio_id, "name": "Changed", "slug": f"s-{new_id()[:8]}"}
    before = (await system.operator.get(f"/studios/{system.studio_id}")).json()
    client = system.partner(await system.key())
    read = (await client.get("/studio")).body
    report = await system.try_import(json.dumps(line | fault).encode())
    assert [row["line"] for row in report["rejected"]] == [1]
    assert (await system.operator.get(f"/studios/{system.studio_id}")).json() == before
    assert (await client.get("/studio")).body == read


async def test_a_file_may_bring_its_own_studio(system: System) -> None:
    """Its lines may name the studio by the slug that its first line gives it; a BOM does no harm."""
    studio = {
        "object": "studio",
        "id": new_id(),
        "name": "New",
        "slug": f"s-{new_id()[:8]}",
        "timezone": "UTC",
    }
    raw = b"\xef\xbb\xbf" + b"\r\n".join(
        json.dumps(line).encode() for line in (studio, import_lines.location())
    )
    report = await system.try_import(raw, studio=str(studio["slug"]))
    assert (report["imported"], report["rejected"]) == (2, [])


async def test_a_deeply_nested_line_is_its_own_problem(system: System) -> None:
    """Whatever its depth, it is reported and the others are stored."""
    for depth in range(970, 1000, 3):
        deep = (
            b'{"object": "class_type", "id": "'
            + new_id().encode()
            + b'", "name": '
            + b"[" * depth
            + b"]" * depth
        )
        raw = b"\n".join([deep + b"}", json.dumps(import_lines.class_type()).encode()])
        report = await system.try_import(raw)
        assert [row["line"] for row in report["rejected"]] == [1]


async def test_lines_of_one_batch_may_come_in_any_order(system: System) -> None:
    """A room may come before its location."""
    place = import_lines.location()
    await system.import_lines([import_lines.room(place["id"]), place])


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
    client = OperatorClient(system.running.operator_url, system.running.operator_token)
    with path.open("rb") as file:
        report = import_stream(client, file, system.studio_id, size=None)
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
    """4 MB in pieces of 1 KB cost about four times as much as 1 MB. Joining each piece made it 16 times."""
    lines, quarter = await pieces_of(b"x" * 2**20 + b"\n", 1024)
    assert [len(line or b"") for line in lines] == [2**20]
    lines, whole = await pieces_of(b"x" * 2**22 + b"\nnext\n\n\nlast", 1024)
    assert [len(line or b"") for line in lines] == [2**22, 4, 0, 0, 4]
    assert whole < 8 * quarter + 0.1


async def test_a_line_over_the_limit_is_skipped_and_the_next_one_read() -> None:
    """Whether it ends in a later piece, in the same one, or not at all."""
    too_long = b"x" * (MAX_LINE_BYTES + 1)
    for size in (2**16, 2 * MAX_LINE_BYTES):
        lines, _ = await pieces_of(too_long + b"\ngood\n" + too_long, size)
        assert lines == [None, b"good", None]
