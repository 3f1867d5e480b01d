"""The mirror of docs/mirroring.md, as it is printed there: killed anywhere, at rest it equals every GET."""

import asyncio
import contextlib
import json
import os
import re
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from shared.routing import SCOPES
from tests.docs.mirrored_studio import MirroredStudio
from tests.harness.databases import connected
from tests.harness.eventually import eventually
from tests.harness.system import System

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "mirror.py"
# An event that its key may not see moves a mirror only when a wait ends, so that the waits are short here.
LONG_WAIT, SHORT_WAIT = "&wait=20", "&wait=1"
FORGET_EVERYTHING = "DELETE FROM webhooks.events WHERE studio_id = $1::uuid"
FORGET_CHANGES = f"{FORGET_EVERYTHING} AND type = 'class.updated'"
READS = tuple(scope for scope in SCOPES if scope.endswith(":read"))
# Readers fetch these when they need them: they change with other resources, without an event each time.
LEFT_OUT = ("booked_count", "available_count", "held_count", "waitlist_position")
LISTS = {
    "locations": "studio:read",
    "rooms": "schedule:read",
    "class-types": "schedule:read",
    "instructors": "schedule:read",
    "classes": "schedule:read",
    "products?active=true": "catalog:read",
    "products?active=false": "catalog:read",
    "members": "members:read",
    "purchases": "purchases:read",
    "bookings": "bookings:read",
    "waitlist": "bookings:read",
    "forms": "forms:read",
    "leads": "leads:read",
}


class Mirror:
    def __init__(self, system: System, key: str, scopes: tuple[str, ...], file: Path) -> None:
        self.partner = system.partner(key)
        self.scopes = scopes
        self.file = file
        self._environment = os.environ | {
            "STUDIO_URL": f"{system.running.partner_url}/partner/v1",
            "STUDIO_KEY": key,
        }
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        program = PROGRAM.read_text()
        assert program.count(LONG_WAIT) == 1
        words = [sys.executable, "-c", program.replace(LONG_WAIT, SHORT_WAIT), str(self.file)]
        self._process = await asyncio.create_subprocess_exec(*words, env=self._environment)

    async def kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    def rows(self) -> dict[tuple[str, str], Any]:
        with contextlib.closing(sqlite3.connect(self.file)) as db:
            found = db.execute("SELECT object, id, body FROM copy WHERE object <> 'place'").fetchall()
        return {(name, row_id): shown(json.loads(body)) for name, row_id, body in found}

    async def has_read_everything(self) -> bool:
        """Up to the newest event. It may still be copying and have no table yet."""
        latest = (await self._get("/events", limit=1))["latest_sequence"]
        with (
            contextlib.suppress(sqlite3.OperationalError),
            contextlib.closing(sqlite3.connect(self.file)) as db,
        ):
            place = db.execute("SELECT version FROM copy WHERE object = 'place'").fetchone()
            return place is not None and place[0] >= latest
        return False

    async def differences(self) -> list[str]:
        """Between the copy and what the key reads, list by list and one by one."""
        listed = await self.listed()
        copied = self.rows()
        found = [f"missing: {key}" for key in listed if key not in copied]
        found += [f"stale: {key}" for key, row in listed.items() if key in copied and copied[key] != row]
        for key in copied.keys() - listed.keys():
            name, row_id = key
            submissions = f"forms/{copied[key].get('form_id')}/submissions"
            places = {"class": "classes", "waitlist": "waitlist", "form_submission": submissions}
            row = await self._get(f"/{places.get(name, name.replace('_', '-') + 's')}/{row_id}")
            if row is None or shown(row) != copied[key] or name == "instructor":
                found.append(f"left over: {key}")
        return found

    async def listed(self) -> dict[tuple[str, str], Any]:
        rows: list[Any] = []
        for path, scope in LISTS.items():
            if scope in self.scopes:
                rows += await self._all(path)
        if "studio:read" in self.scopes:
            rows.append(await self._get("/studio"))
        if "members:read" in self.scopes:
            for member in [row for row in rows if row["object"] == "member"]:
                rows += await self._all(f"members/{member['id']}/memberships")
        if "form_submissions:read" in self.scopes:
            for form in [row for row in rows if row["object"] == "form"]:
                rows += await self._all(f"forms/{form['id']}/submissions")
        return {(row["object"], row["id"]): shown(row) for row in rows}

    async def _all(self, path: str) -> list[Any]:
        name, _, active = path.partition("?active=")
        drafts = True if name == "forms" and "forms:write" in self.scopes else None
        query = {"include_drafts": drafts, "active": active or None}
        return await self.partner.everything(f"/{name}", limit=200, **query)

    async def _get(self, path: str, **query: Any) -> Any:
        """None for 404."""
        reply = await self.partner.get(path, **query)
        assert reply.status in (200, 404), reply.body
        return reply.json() if reply.status == 200 else None


def shown(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in LEFT_OUT}


@asynccontextmanager
async def mirrors_of(system: System, studio: MirroredStudio, folder: Path) -> AsyncIterator[list[Mirror]]:
    """One that sees everything, one that only reads at one location, and one with few scopes at the other."""
    few = ("schedule:read", "bookings:read", "webhooks:read")
    first, second = (place["id"] for place in studio.places)
    views: list[tuple[tuple[str, ...], list[str] | None]] = [
        (SCOPES, None),
        (READS, [first]),
        (few, [second]),
    ]
    made = []
    for number, (scopes, locations) in enumerate(views):
        issued = await system.issue(*scopes, location_ids=locations, client=f"mirror-{number}")
        await system.limit(issued)
        made.append(Mirror(system, str(issued["key"]), scopes, folder / f"mirror-{number}.db"))
    try:
        yield made
    finally:
        for mirror in made:
            await mirror.kill()


async def settled(mirror: Mirror) -> list[str]:
    """The differences at rest: none, or what is left when everything has been read."""

    async def equal() -> bool:
        return await mirror.has_read_everything() and not await mirror.differences()

    with contextlib.suppress(TimeoutError):
        await eventually(equal, seconds=60)
    return await mirror.differences()


async def loaded(system: System, seed: int) -> MirroredStudio:
    studio = MirroredStudio(system, await system.key(client="writer"), seed)
    await studio.load()
    return studio


@pytest.mark.timeout(300)
async def test_a_mirror_killed_anywhere_ends_up_equal(system: System, tmp_path: Path) -> None:
    """Partners, staff, imports, erasures and loops write at once; each mirror sees what its key may see."""
    studio = await loaded(system, 1)
    async with mirrors_of(system, studio, tmp_path) as mirrors:
        for mirror in mirrors:
            await mirror.start()
        await asyncio.gather(studio.let_membership_end(), studio.let_class_begin())
        for turn in range(16):
            await asyncio.gather(*(studio.act() for _ in range(3)))
            struck = mirrors[turn % len(mirrors)]
            await struck.kill()
            await struck.start()
        assert studio.ending and studio.beginning, "the loops had nothing to do"
        await eventually(studio.loops_have_acted, seconds=60)
        for mirror in mirrors:
            assert await settled(mirror) == []
            assert mirror.rows()


@pytest.mark.timeout(300)
async def test_a_mirror_that_missed_an_event_differs_until_it_is_told_to_start_again(
    system: System, tmp_path: Path
) -> None:
    """The control first: with one event taken out of the log the comparison finds what is stale. Then every
    event that it needs is gone: it is told so, and copies everything.
    """
    studio = await loaded(system, 3)
    changed = studio.classes[0]["id"]
    async with mirrors_of(system, studio, tmp_path) as (mirror, *_):

        async def miss(title: str, forget: str) -> list[str]:
            await mirror.kill()
            await studio.staff("PATCH", f"/classes/{changed}", {"title": title})
            await mirror.partner.until("/events", lambda page: title in str(page), type="class.updated")
            async with connected(system.running.database_url("webhooks")) as conn:
                await conn.execute(forget, system.studio_id)
            await mirror.start()
            await eventually(mirror.has_read_everything, seconds=60)
            return await mirror.differences()

        await mirror.start()
        assert await settled(mirror) == []
        assert await miss("Changed in secret", FORGET_CHANGES) == [f"stale: {('class', changed)}"]
        assert await miss("Changed meanwhile", FORGET_EVERYTHING) == []


def test_the_page_prints_the_program() -> None:
    """Under 100 lines, and the same in docs and examples."""
    (printed,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "mirroring.md").read_text(), re.DOTALL)
    assert printed == PROGRAM.read_text()
    assert len(printed.splitlines()) < 100
