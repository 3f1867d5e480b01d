"""A large studio exported, imported elsewhere and exported again: identical files in bounded memory."""

import hashlib
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from shared.wire import new_id
from tests.harness.import_lines import class_
from tests.harness.system import embedded_system
from tests.soak.studioctl import served, studioctl

ROWS = 100_000
MEGABYTES = 300
START = datetime(2035, 1, 1, 8, tzinfo=UTC)


def lines() -> Iterator[dict[str, Any]]:
    """A tenth classes, three tenths members, the rest bookings; every tenth of them is over and cancelled."""
    studio, place, room = new_id(), new_id(), new_id()
    yield {"object": "studio", "id": studio, "name": "Large", "slug": "large", "timezone": "UTC"}
    common = {"studio_id": studio}
    yield common | {"object": "location", "id": place, "name": "Here", "timezone": "UTC"}
    yield common | {"object": "room", "id": room, "location_id": place, "name": "One", "capacity": 9}
    members, classes = [new_id() for _ in range(ROWS * 3 // 10)], [new_id() for _ in range(ROWS // 10)]
    for number, id_ in enumerate(members):
        yield common | {"object": "member", "id": id_, "first_name": "M", "email": f"m{number}@example.com"}
    for number, id_ in enumerate(classes):
        start = START + timedelta(minutes=number)
        where = {"location_id": place, "room_id": room}
        yield common | class_(id=id_, title=f"Class {number}", start_time=start, capacity=9, **where)
    for number in range(ROWS * 6 // 10 - 3):
        yield common | {
            "object": "booking",
            "id": new_id(),
            "class_id": classes[number % len(classes)],
            # Nobody is twice in a class.
            "member_id": members[(number + number // len(members)) % len(members)],
            "status": "cancelled" if number % 10 == 0 else "confirmed",
        }


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def test_a_large_studio_survives_export_and_import(
    database_url: str, session_database_url: str, tmp_path: Path
) -> None:
    """100,000 rows through three files; neither the services nor the command keep them in memory."""
    source, first, again, report = (tmp_path / name for name in ("source", "first", "again", "report"))
    with source.open("w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines())
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        home.mkdir()
    peaks: list[float] = []
    started = time.monotonic()
    urls = (session_database_url, database_url)
    for home, url, given, exported in zip(homes, urls, (source, first), (first, again), strict=True):
        with embedded_system(home, url) as running:
            for words, out in ((("import", str(given)), report), (("export", "--studio", "large"), exported)):
                done = studioctl(running, *words, out=out)
                assert done.code == 0
                peaks.append(done.peak)
            peaks.append(served(running))
    seconds = time.monotonic() - started
    with first.open("rb") as file:
        count = sum(1 for _ in file)
    print(f"\nexport: {count:,} lines through two systems in {seconds:.0f} s, {max(peaks):.0f} MB at most")
    assert count == ROWS
    assert digest(again) == digest(first)
    assert max(peaks) < MEGABYTES
