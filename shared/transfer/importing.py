"""The import that catalog, bookings and forms share: bulk upserts, each bad line reported with its reason.

A batch is written in steps, referenced kinds first, so that its lines may come in any order. Lines that would
change nothing are left out before anything is locked. A dry run makes the same checks on the same data, but
neither locks nor writes, so nobody notices it.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import asyncpg
from msgspec import Struct

from shared.background import Wakeup
from shared.db.database import Connection, Database
from shared.db.timezones import timezones_of
from shared.errors import Invalid
from shared.events.changes import Snapshots, change_events
from shared.events.event import Event, Kind
from shared.events.outbox import add_events
from shared.phones import PHONE_PROBLEM, phone_problems, region_of
from shared.transfer.lines import (
    Earlier,
    ImportLine,
    ImportReport,
    Line,
    Rejected,
    Row,
    Rows,
    decode_line,
    kind_of,
    read_earlier_line,
    reason_of,
)
from shared.transfer.refusals import Importer, Write, refuse

# Reads what partners see before the rows are written. What it returns is called after that, for the events.
Watch = Callable[[Connection, Rows], Awaitable[Callable[[], Awaitable[list[Event]]]]]


class Step(Struct, frozen=True, kw_only=True):
    """Kinds that are written in one transaction. `settle` is called after the last of them."""

    importers: tuple[Importer, ...]
    lock: Write | None = None
    watch: Watch | None = None
    settle: Write | None = None


class Import(Struct, frozen=True, kw_only=True):
    """The import of one service. `lines` is the union of the structs that it can read.

    `to_row` makes a row of a struct and of the JSON as it was written, or raises Invalid or ValueError.
    `finish` is called at the end.
    """

    lines: Any
    to_row: Callable[[Any, bytes], Row]
    steps: tuple[Step, ...]
    finish: Callable[[Connection], Awaitable[None]] | None = None

    @property
    def importers(self) -> list[Importer]:
        return [importer for step in self.steps for importer in step.importers]


class Importing(Protocol):
    """A service that can import."""

    @property
    def db(self) -> Database: ...

    @property
    def wakeup(self) -> Wakeup: ...


async def import_lines(
    service: Importing, plan: Import, lines: Sequence[ImportLine], *, send_events: bool
) -> ImportReport:
    usable, _, reasons = await _usable(service.db, plan, lines)
    for step in plan.steps:
        if group := [line for importer in step.importers for line in _of_kind(importer, usable)]:
            reasons |= await _run_step(service.db, step, group, send_events=send_events)
    service.wakeup.notify()
    if plan.finish is not None:
        async with service.db.connection() as conn:
            await plan.finish(conn)
    return _report(lines, reasons)


async def check_lines(service: Importing, plan: Import, lines: Sequence[ImportLine]) -> ImportReport:
    """The dry run. The ids of accepted lines count as stored, and nothing else that they would change."""
    usable, earlier, reasons = await _usable(service.db, plan, lines)
    tables = {kind_of(importer.line): importer.table for importer in plan.importers}
    known = {(tables.get(line.object, ""), studio_id, line.id) for studio_id, line in earlier}
    async with service.db.connection() as conn:
        for importer in plan.importers:
            reasons |= await refuse(conn, importer, _of_kind(importer, usable), known)
    return _report(lines, reasons)


def _of_kind(importer: Importer, lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if isinstance(line.value, importer.line)]


def _report(lines: Sequence[ImportLine], reasons: Mapping[int, str]) -> ImportReport:
    rejected = [Rejected(number, reasons[number]) for number in sorted(reasons)]
    return ImportReport(sum(line.number >= 1 for line in lines) - len(rejected), rejected)


async def _usable(
    db: Database, plan: Import, lines: Sequence[ImportLine]
) -> tuple[list[Line], list[tuple[str, Earlier]], dict[int, str]]:
    """The lines that can be read and change something, in the order of the steps, and why others cannot."""
    read: list[Line] = []
    earlier: list[tuple[str, Earlier]] = []
    reasons: dict[int, str] = {}
    timezones: dict[str, str | None] = {}
    for line in lines:
        if line.number < 1:
            if (known := read_earlier_line(line)) is not None:
                earlier.append((line.studio_id, known))
                if known.object == "studio":
                    timezones[known.id] = known.timezone
            continue
        try:
            value = decode_line(plan.lines, line)
            row = plan.to_row(value, bytes(line.resource))
        except Invalid as problem:
            reasons[line.number] = problem.text.removeprefix("body.")
        except ValueError as problem:
            reasons[line.number] = str(problem)
        else:
            read.append(Line(line.number, line.studio_id, value, row | {"studio_id": line.studio_id}))
            if kind_of(type(value)) == "studio":
                timezones[value.id] = value.timezone
    reasons |= await _refuse_phones(db, read, timezones)
    good = [line for line in read if line.number not in reasons]
    usable: list[Line] = []
    for importer in plan.importers:
        usable += await _changed(db, importer, _of_kind(importer, good))
    return usable, earlier, reasons


async def _refuse_phones(
    db: Database, lines: Sequence[Line], timezones: dict[str, str | None]
) -> dict[int, str]:
    """As in a request's body. `timezones` are those of the studios in the file."""
    phones = {line.number: getattr(line.value, "phone", None) for line in lines}
    national = [line for line in lines if phone_problems(phones[line.number], None)]
    if not national:
        return {}
    async with db.connection() as conn:
        zones = await timezones_of(conn, {line.studio_id for line in national}) | timezones
    return {
        line.number: f"phone: {PHONE_PROBLEM}"
        for line in national
        if phone_problems(phones[line.number], region_of(zones.get(line.studio_id)))
    }


async def _changed(db: Database, importer: Importer, lines: list[Line]) -> list[Line]:
    """Two lines with the same id are both kept, because the first is not written yet when they are compared.

    Values that the comparison cannot read are left to the write, which reports the line.
    """
    if not lines or importer.changed is None:
        return lines
    try:
        async with db.connection() as conn:
            changed = set(await importer.changed(conn, [line.row for line in lines]))
    except (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError):
        return lines
    ids = Counter(line.key for line in lines)
    return [line for place, line in enumerate(lines) if place in changed or ids[line.key] > 1]


async def _run_step(db: Database, step: Step, lines: list[Line], *, send_events: bool) -> dict[int, str]:
    """The lines are checked under the locks: they are refused for what is stored when they are written."""
    reasons: dict[int, str] = {}
    rows = [line.row for line in lines]
    async with db.transaction() as conn:
        if step.lock is not None:
            await step.lock(conn, rows)
        events = await step.watch(conn, rows) if send_events and step.watch is not None else None
        for importer in step.importers:
            for group in _each_id_once(_of_kind(importer, lines)):
                reasons |= await refuse(conn, importer, group, set())
                good = [line for line in group if line.number not in reasons]
                if importer.write is not None:
                    await _write(conn, good, importer.write, reasons)
        if step.settle is not None:
            await step.settle(conn, [line.row for line in lines if line.number not in reasons])
        if events is not None:
            await add_events(conn, await events())
    return reasons


def _each_id_once(lines: Sequence[Line]) -> list[list[Line]]:
    """Another line of the same row is checked and written after the one before it."""
    groups: list[list[Line]] = []
    seen: Counter[tuple[str, str]] = Counter()
    for line in lines:
        if seen[line.key] == len(groups):
            groups.append([])
        groups[seen[line.key]].append(line)
        seen[line.key] += 1
    return groups


async def _write(conn: Connection, lines: Sequence[Line], write: Write, reasons: dict[int, str]) -> None:
    """Bisects a batch that the database refuses, until the bad lines are isolated."""
    if not lines:
        return
    try:
        async with conn.transaction():
            await write(conn, [line.row for line in lines])
        return
    except (
        asyncpg.IntegrityConstraintViolationError,
        asyncpg.DataError,
        asyncpg.CardinalityViolationError,
    ) as problem:
        if len(lines) == 1:
            reasons[lines[0].number] = reason_of(problem)
            return
    middle = len(lines) // 2
    await _write(conn, lines[:middle], write, reasons)
    await _write(conn, lines[middle:], write, reasons)


# One import per studio at a time: nothing changes between reading and writing, and two imports, which lock
# rows in the order of their files, cannot deadlock.
LOCK_STUDIOS = """
SELECT pg_advisory_xact_lock(hashtextextended('import:' || studio, 0)) FROM unnest($1::text[]) AS studio
"""


async def lock_studios(conn: Connection, rows: Rows) -> None:
    await conn.execute(LOCK_STUDIOS, sorted({row["studio_id"] for row in rows}))


def keys_of(rows: Rows) -> tuple[list[str], list[str]]:
    """Studios and ids, for `unnest($1::uuid[], $2::uuid[])`."""
    return [row["studio_id"] for row in rows], [row["id"] for row in rows]


def watch_changes(
    read: Callable[[Connection, Rows], Awaitable[Snapshots]], created: Kind | None, updated: Kind
) -> Watch:
    """`read` returns the rows as partners see them. Without `created` a new row has no event."""

    async def watch(conn: Connection, rows: Rows) -> Callable[[], Awaitable[list[Event]]]:
        before = await read(conn, rows)

        async def events() -> list[Event]:
            after = await read(conn, rows)
            if created is None:
                after = {key: found for key, found in after.items() if key in before}
            return change_events(created or updated, updated, before, after)

        return events

    return watch
