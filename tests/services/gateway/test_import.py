"""The import: streams, batches, upserts, and names bad lines without losing good ones."""

import json
from pathlib import Path

from services.cli.import_file import import_stream
from services.cli.operator_client import OperatorClient
from shared.wire import new_id
from tests.harness import lines
from tests.harness.system import System


async def test_bad_lines_are_named_and_good_ones_kept(system: System) -> None:
    """Each bad line by number and reason: broken JSON, unknown kinds, wrong types, dangling references."""
    good = lines.location()
    bad_room = lines.room(new_id())
    raw = [
        json.dumps(good).encode(),
        b"{broken",
        b"",
        json.dumps({"object": "spaceship", "id": new_id()}).encode(),
        json.dumps(lines.location(timezone="Mars/Olympus")).encode(),
        json.dumps(lines.location(nmae="misspelt")).encode(),
        json.dumps(bad_room).encode(),
        json.dumps(lines.room(good["id"], capacity=-1)).encode(),
        json.dumps(lines.class_type(name="a\u0000b")).encode(),
        json.dumps(lines.product(prices=[lines.price(amount="NaN")])).encode(),
        json.dumps(lines.room(good["id"])).encode(),
    ]
    report = await system.try_import(b"\n".join(raw))
    reasons = {row["line"]: row["reason"] for row in report["rejected"]}
    assert sorted(reasons) == [2, 4, 5, 6, 7, 8, 9, 10]
    assert report["imported"] == 2
    assert "spaceship" in reasons[4]
    assert "Mars/Olympus" in reasons[5]
    assert "nmae" in reasons[6]
    assert bad_room["location_id"] in reasons[7]
    client = system.partner(await system.key())
    assert len((await client.get("/rooms")).json()["data"]) == 1


async def test_a_line_of_an_unknown_studio_is_rejected(system: System) -> None:
    """A line goes to a studio that exists, by its own studio_id or by the one given."""
    other = await system.new_studio()
    mine, theirs = lines.location(), lines.location(studio_id=other)
    lost = lines.location(studio_id=new_id())
    raw = b"\n".join(json.dumps(line).encode() for line in (mine, theirs, lost))
    report = await system.try_import(raw)
    assert [row["line"] for row in report["rejected"]] == [3]
    client = system.partner(await system.key(studio=other))
    assert [row["id"] for row in (await client.get("/locations")).json()["data"]] == [theirs["id"]]


async def test_lines_of_one_batch_may_come_in_any_order(system: System) -> None:
    """A room before its location is no mistake of the file."""
    place = lines.location()
    await system.import_lines([lines.room(place["id"]), place])


async def test_a_file_is_sent_in_pieces_with_the_files_own_line_numbers(
    system: System, tmp_path: Path
) -> None:
    """20,000 lines through studioctl's own sender: line 12,345 is broken and is the only one named."""
    path = tmp_path / "types.ndjson"
    with path.open("w") as file:
        for number in range(1, 20_001):
            file.write("{broken\n" if number == 12_345 else json.dumps(lines.class_type()) + "\n")
    client = OperatorClient(system.running.operator_url, system.running.operator_token)
    with path.open("rb") as file:
        report = import_stream(client, file, system.studio_id, size=None)
    assert (report["lines"], report["imported"], report["rejected_count"]) == (20_000, 19_999, 1)
    assert report["rejected"][0]["line"] == 12_345
